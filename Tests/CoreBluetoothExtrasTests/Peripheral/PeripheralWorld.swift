import AppStandIns
import BluetoothSimulation
import CoreBluetooth
import CoreBluetoothExtras
import EventLoops
import Foundation
import LinkLayer
import TestBasics

/// A sensor whose app uses async/await, and phones with a delegate.
final class PeripheralWorld: Sendable {
    static let service = CBUUID(string: "AAAA")
    static let value = CBUUID(string: "BBBB")

    let world: SimulatedWorld
    let sensor: SimulatedDevice
    let app: SimulatedApp
    let manager: CBPeripheralManager
    let notes = Lines()
    let characteristic = CBMutableCharacteristic(
        PeripheralWorld.value,
        [.read, .write, .writeWithoutResponse, .notify]
    )

    init(seed: UInt64 = 1, delegate: (any CBPeripheralManagerDelegate)? = nil) {
        world = SimulatedWorld(seed: seed)
        sensor = world.addDevice(named: "Sensor")
        (app, manager) = sensor.launch("sensor") { app in
            (app, CBPeripheralManager(delegate: delegate, queue: DispatchQueue(label: "sensor")))
        }
    }

    /// A service with the one characteristic.
    func service(_ uuid: CBUUID = PeripheralWorld.service) -> CBMutableService {
        let service = CBMutableService(type: uuid, primary: true)
        if uuid == Self.service { service.characteristics = [characteristic] }
        return service
    }

    /// Publishes and advertises, and lets a second pass.
    func publish() {
        app.task { [self] in
            try await manager.poweredOn()
            try await manager.publish(service())
            try await manager.advertise(AdvertisedContent(localName: "Sensor", services: [Self.service]))
            notes.add("advertising")
        }
        run(1)
    }

    /// The world once it has published.
    func published() -> Self {
        publish()
        return self
    }

    func run(_ seconds: Double) { world.run(for: .seconds(seconds)) }

    /// Adds a phone that connects, and subscribes if `subscribes` is true.
    func phone(_ name: String = "Phone", x: Double = 1, subscribes: Bool = true) -> Phone {
        let device = world.addDevice(named: name, at: Position(x: x))
        return device.launch(name) { _ in Phone(device, subscribes: subscribes) }
    }
}

/// An app that connects, subscribes, and records its events. All its state is bound to its queue, except for the notes.
final class Phone: CentralStandIn, @unchecked Sendable {
    // Safe: mutable state is accessed only on the queue.
    let device: SimulatedDevice
    let notes = Lines()
    let queue = DispatchQueue(label: "phone")
    private let subscribes: Bool
    private(set) var advertisement: [String: Any] = [:]
    private var channel: CBL2CAPChannel?

    init(_ device: SimulatedDevice, subscribes: Bool) {
        self.device = device
        self.subscribes = subscribes
        super.init(seeking: [PeripheralWorld.service], on: queue)
    }

    var characteristic: CBCharacteristic? { found?.services?.first?.characteristics?.first }

    func read() {
        queue.sync { if let characteristic { found?.readValue(for: characteristic) } }
    }

    func write(_ value: Data, _ type: CBCharacteristicWriteType = .withResponse) {
        queue.sync { if let characteristic { found?.writeValue(value, for: characteristic, type: type) } }
    }

    func disconnect() {
        queue.sync { if let found { manager?.cancelPeripheralConnection(found) } }
    }

    func openChannel(_ psm: CBL2CAPPSM) { queue.sync { found?.openL2CAPChannel(psm) } }

    override func centralManager(
        _ central: CBCentralManager,
        didDiscover peripheral: CBPeripheral,
        advertisementData: [String: Any],
        rssi RSSI: NSNumber
    ) {
        advertisement = advertisementData
        // A test may scan again.
        found = nil
        super.centralManager(central, didDiscover: peripheral, advertisementData: advertisementData, rssi: RSSI)
    }

    override func centralManager(
        _ central: CBCentralManager,
        didDisconnectPeripheral peripheral: CBPeripheral,
        error: (any Error)?
    ) {
        notes.add("disconnected")
    }

    override func use(_ characteristic: CBCharacteristic, of peripheral: CBPeripheral) {
        if subscribes { peripheral.setNotifyValue(true, for: characteristic) } else { notes.add("connected") }
    }

    override func peripheral(
        _ peripheral: CBPeripheral,
        didUpdateNotificationStateFor characteristic: CBCharacteristic,
        error: (any Error)?
    ) {
        notes.add("subscribed")
    }

    override func peripheral(
        _ peripheral: CBPeripheral,
        didUpdateValueFor characteristic: CBCharacteristic,
        error: (any Error)?
    ) {
        let value = String(decoding: characteristic.value ?? Data(), as: UTF8.self)
        notes.add(error.map { "value failed: \(Lines.text($0))" } ?? "value \(value)")
    }

    override func peripheral(
        _ peripheral: CBPeripheral,
        didWriteValueFor characteristic: CBCharacteristic,
        error: (any Error)?
    ) {
        notes.add(error.map { "write failed: \(Lines.text($0))" } ?? "written")
    }

    override func peripheral(_ peripheral: CBPeripheral, didOpen channel: CBL2CAPChannel?, error: (any Error)?) {
        self.channel = channel
        notes.add(error.map { "open failed: \(Lines.text($0))" } ?? "open")
    }
}
