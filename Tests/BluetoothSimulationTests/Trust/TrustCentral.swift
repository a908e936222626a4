import BluetoothSimulation
import CoreBluetooth
import Foundation
import Synchronization
import Testing

/// An app in the central role that a test drives step by step, with all its delegate callbacks.
final class TrustCentral: NSObject, CBCentralManagerDelegate, CBPeripheralDelegate, @unchecked Sendable {
    // Safe: everything except `heard`, which has a lock, is accessed only on the manager's queue, where the callbacks
    // arrive.

    /// A callback as a keyword, with its error if any.
    struct Heard: Sendable {
        let what: String
        var error: (any Error)?
        var value: Data?
    }

    private let heard = Mutex<[Heard]>([])
    private let queue = DispatchQueue(label: "central")
    private let world: SimulatedWorld
    private var manager: CBCentralManager!
    private var peripheral: CBPeripheral?
    private var unexplored = 0
    private var ignored: UUID?

    init(_ world: SimulatedWorld) {
        self.world = world
        super.init()
        manager = CBCentralManager(delegate: self, queue: queue)
    }

    // MARK: Steps

    /// The callbacks not removed yet.
    var log: [Heard] { heard.withLock { $0 } }

    /// Runs the world until a callback matches one of `words`, and removes it and all earlier ones.
    @discardableResult
    func expect(_ words: String..., within limit: Duration = .seconds(60)) throws -> Heard {
        let isThere = world.run(for: limit) { [self] in heard.withLock { $0.contains { words.contains($0.what) } } }
        let found: Heard? = heard.withLock { heard in
            guard let index = heard.firstIndex(where: { words.contains($0.what) }) else { return nil }
            defer { heard.removeFirst(index + 1) }
            return heard[index]
        }
        return try #require(isThere ? found : nil, "none of \(words) came, but \(log.map(\.what))")
    }

    func on<T: Sendable>(_ body: @Sendable (TrustCentral) -> T) -> T {
        queue.sync { body(self) }
    }

    /// Finds a device other than `other` that advertises the service, and returns its identifier.
    @discardableResult
    func find(except other: UUID? = nil) throws -> UUID {
        on { $0.ignored = other }
        on { $0.manager.scanForPeripherals(withServices: [Trust.service]) }
        try expect("discovered")
        on { $0.manager.stopScan() }
        return try #require(identifier)
    }

    var identifier: UUID? { on { $0.peripheral?.identifier } }

    /// Requests a connection to the peripheral discovered last.
    func connect(wantsNotifications: Bool = false) {
        let options = wantsNotifications ? [CBConnectPeripheralOptionRequiresANCS: true] : nil
        on { if let peripheral = $0.peripheral { $0.manager.connect(peripheral, options: options) } }
    }

    /// Requests a connection to a peripheral that the system already knows.
    func connect(known identifier: UUID) throws {
        let isKnown = on { app in
            app.peripheral = app.manager.retrievePeripherals(withIdentifiers: [identifier]).first
            return app.peripheral != nil
        }
        try #require(isKnown, "the peripheral is not known")
        connect()
    }

    /// Connects, and discovers all characteristics.
    func open() throws {
        connect()
        try expect("connected")
        on { $0.peripheral?.discoverServices([Trust.service]) }
        try expect("explored")
    }

    /// Finds the peripheral, connects, and discovers all characteristics.
    func visit() throws {
        try find()
        try open()
    }

    /// Visits the peripheral and reads the value that requires pairing, which the devices do unless they are bonded.
    func pair() throws {
        try visit()
        read(Trust.email)
        #expect(try expect("value").error == nil)
    }

    func leave() throws {
        on { if let peripheral = $0.peripheral { $0.manager.cancelPeripheralConnection(peripheral) } }
        try expect("disconnected")
        world.run(for: .milliseconds(200))
    }

    func characteristic(_ uuid: CBUUID) -> CBCharacteristic? {
        peripheral?.services?.flatMap { $0.characteristics ?? [] }.first { $0.uuid == uuid }
    }

    func read(_ uuid: CBUUID) {
        on { app in if let it = app.characteristic(uuid) { app.peripheral?.readValue(for: it) } }
    }

    func write(_ uuid: CBUUID, _ value: Data, type: CBCharacteristicWriteType = .withResponse) {
        on { app in if let it = app.characteristic(uuid) { app.peripheral?.writeValue(value, for: it, type: type) } }
    }

    func subscribe(_ uuid: CBUUID, _ isOn: Bool = true) {
        on { app in if let it = app.characteristic(uuid) { app.peripheral?.setNotifyValue(isOn, for: it) } }
    }

    /// Discovers the descriptors of a characteristic.
    func describe(_ uuid: CBUUID) throws {
        on { app in if let it = app.characteristic(uuid) { app.peripheral?.discoverDescriptors(for: it) } }
        try expect("described")
    }

    private func description(of uuid: CBUUID) -> CBDescriptor? {
        let wanted = CBUUID(string: CBUUIDCharacteristicUserDescriptionString)
        return characteristic(uuid)?.descriptors?.first { $0.uuid == wanted }
    }

    func readDescription(of uuid: CBUUID) {
        on { app in if let it = app.description(of: uuid) { app.peripheral?.readValue(for: it) } }
    }

    func writeDescription(of uuid: CBUUID, _ value: Data) {
        on { app in if let it = app.description(of: uuid) { app.peripheral?.writeValue(value, for: it) } }
    }

    // MARK: Callbacks

    private func hear(_ what: String, _ error: (any Error)? = nil, value: Data? = nil) {
        heard.withLock { $0.append(Heard(what: what, error: error, value: value)) }
    }

    func centralManagerDidUpdateState(_ central: CBCentralManager) {
        hear("state \(central.state.rawValue)")
    }

    func centralManager(
        _ central: CBCentralManager,
        didDiscover peripheral: CBPeripheral,
        advertisementData: [String: Any],
        rssi RSSI: NSNumber
    ) {
        guard peripheral.identifier != ignored else { return }
        self.peripheral = peripheral
        hear("discovered")
    }

    func centralManager(_ central: CBCentralManager, didConnect peripheral: CBPeripheral) {
        peripheral.delegate = self
        hear("connected")
    }

    func centralManager(_ central: CBCentralManager, didUpdateANCSAuthorizationFor peripheral: CBPeripheral) {
        hear("notifications \(peripheral.ancsAuthorized)")
    }

    func centralManager(_ central: CBCentralManager, didFailToConnect peripheral: CBPeripheral, error: (any Error)?) {
        hear("failed to connect", error)
    }

    func centralManager(
        _ central: CBCentralManager,
        didDisconnectPeripheral peripheral: CBPeripheral,
        error: (any Error)?
    ) {
        hear("disconnected", error)
    }

    func peripheral(_ peripheral: CBPeripheral, didDiscoverServices error: (any Error)?) {
        let services = peripheral.services ?? []
        unexplored = services.count
        for service in services { peripheral.discoverCharacteristics(nil, for: service) }
    }

    func peripheral(_ peripheral: CBPeripheral, didDiscoverCharacteristicsFor service: CBService, error: (any Error)?) {
        unexplored -= 1
        if unexplored == 0 { hear("explored", error) }
    }

    func peripheral(_ peripheral: CBPeripheral, didUpdateValueFor characteristic: CBCharacteristic, error: (any Error)?)
    {
        hear("value", error, value: error == nil ? characteristic.value : nil)
    }

    func peripheral(_ peripheral: CBPeripheral, didWriteValueFor characteristic: CBCharacteristic, error: (any Error)?)
    {
        hear("written", error)
    }

    func peripheral(
        _ peripheral: CBPeripheral,
        didUpdateNotificationStateFor characteristic: CBCharacteristic,
        error: (any Error)?
    ) {
        hear(characteristic.isNotifying ? "subscribed" : "not subscribed", error)
    }

    func peripheral(
        _ peripheral: CBPeripheral,
        didDiscoverDescriptorsFor characteristic: CBCharacteristic,
        error: (any Error)?
    ) {
        hear("described", error)
    }

    func peripheral(_ peripheral: CBPeripheral, didUpdateValueFor descriptor: CBDescriptor, error: (any Error)?) {
        hear("description", error, value: (descriptor.value as? String).map { Data($0.utf8) })
    }

    func peripheral(_ peripheral: CBPeripheral, didWriteValueFor descriptor: CBDescriptor, error: (any Error)?) {
        hear("description written", error)
    }

    func peripheral(_ peripheral: CBPeripheral, didModifyServices invalidatedServices: [CBService]) {
        hear("services modified")
    }
}
