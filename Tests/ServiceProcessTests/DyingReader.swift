import AppStandIns
import BluetoothSimulation
import CoreBluetooth
import Dispatch
import EventLoops
import Foundation
import Logging
import ServiceMessages
import Synchronization

@testable import ServiceProcess

/// A belt that sends numbers every few milliseconds, one or several at once.
final class CountingBelt: PeripheralStandIn, @unchecked Sendable {
    // Safe: mutable state is accessed only on the queue.
    static let service = CBUUID(string: "180D")
    static let count = CBUUID(string: "2A37")

    let device: SimulatedDevice
    private let total: Int
    private let atOnce: Int
    private var next = 0
    private let characteristic = CBMutableCharacteristic(CountingBelt.count, .notify)

    /// Launches the app of a belt on a new device.
    ///
    /// - Parameters:
    ///   - total: The number of values to send in all.
    ///   - atOnce: The number of values to send each time.
    static func launch(in world: SimulatedWorld, total: Int, atOnce: Int = 1) -> CountingBelt {
        world.addDevice(named: "belt").launch("belt") { CountingBelt($0, total: total, atOnce: atOnce) }
    }

    private init(_ app: SimulatedApp, total: Int, atOnce: Int) {
        (device, self.total, self.atOnce) = (app.device, total, atOnce)
        let queue = DispatchQueue(label: "belt")
        super.init(service: Self.service, [characteristic], on: queue)
        app.everyInterval(.milliseconds(20), on: queue) { [weak self] in self?.send() }
    }

    private func send() {
        guard characteristic.subscribedCentrals?.isEmpty == false else { return }
        for _ in 0..<atOnce where next < total {
            let octets = Data([UInt8(next >> 8), UInt8(next & 0xFF)])
            guard manager?.updateValue(octets, for: characteristic, onSubscribedCentrals: nil) == true else { return }
            next += 1
        }
    }
}

/// An app in another process that reads the belt's numbers, and dies in a callback for one of them.
final class DyingReader: NSObject, CBCentralManagerDelegate, CBPeripheralDelegate, @unchecked Sendable {
    // Safe: everything is accessed only on the queue, except for the manager, which is set once, and for state with a
    // lock.
    static let identifier = "reader"

    private let dialer: TestDialer
    private let connection: RemoteConnection
    private let lifetime: Int
    private let read = Mutex<[Int]>([])
    private let said = Mutex<[String]>([])
    private let isGone = Mutex(false)
    private var belt: CBPeripheral?
    private var manager: CBCentralManager?

    /// - Parameter lifetime: The number of values after which the process dies.
    init(in world: ClientWorld, lifetime: Int = .max) {
        let dialer = TestDialer(loop: world.world.loop)
        dialer.clients.withLock { $0 = world.clients }
        (self.dialer, self.lifetime) = (dialer, lifetime)
        connection = RemoteConnection(
            hello: Hello(AppIdentity(name: "com.example.reader")),
            loop: world.world.loop,
            logger: Logger(label: "reader") { _ in SwiftLogNoOpLogHandler() }
        ) { dialer }
        super.init()
        manager = ServiceLocator.$current.withValue(connection) {
            CBCentralManager(
                delegate: self,
                queue: DispatchQueue(label: "reader"),
                options: [CBCentralManagerOptionRestoreIdentifierKey: Self.identifier]
            )
        }
    }

    /// The numbers received so far.
    var numbers: [Int] { read.withLock { $0 } }
    /// The other callbacks, as text.
    var story: [String] { said.withLock { $0 } }
    var isDead: Bool { isGone.withLock { $0 } }

    /// Ends the process, in a callback or between two.
    func die() {
        isGone.withLock { $0 = true }
        dialer.die()
    }

    /// Stops the process from reading.
    func stall() { dialer.stall() }

    private func note(_ text: String) { if !isDead { said.withLock { $0.append(text) } } }

    func centralManager(_ central: CBCentralManager, willRestoreState dict: [String: Any]) {
        belt = (dict[CBCentralManagerRestoredStatePeripheralsKey] as? [CBPeripheral])?.first
        belt?.delegate = self
        note("restored \(belt?.state.rawValue ?? -1)")
    }

    func centralManagerDidUpdateState(_ central: CBCentralManager) {
        guard !isDead, central.state == .poweredOn, belt == nil else { return }
        central.scanForPeripherals(withServices: [CountingBelt.service])
    }

    func centralManager(
        _ central: CBCentralManager,
        didDiscover peripheral: CBPeripheral,
        advertisementData: [String: Any],
        rssi RSSI: NSNumber
    ) {
        guard !isDead else { return }
        belt = peripheral
        peripheral.delegate = self
        central.stopScan()
        central.connect(peripheral)
    }

    func centralManager(_ central: CBCentralManager, didConnect peripheral: CBPeripheral) {
        note("connected")
        if !isDead { peripheral.discoverServices([CountingBelt.service]) }
    }

    func centralManager(
        _ central: CBCentralManager,
        didDisconnectPeripheral peripheral: CBPeripheral,
        error: (any Error)?
    ) {
        note("disconnected")
        if !isDead { central.connect(peripheral) }
    }

    func peripheral(_ peripheral: CBPeripheral, didDiscoverServices error: (any Error)?) {
        guard !isDead else { return }
        for service in peripheral.services ?? [] { peripheral.discoverCharacteristics(nil, for: service) }
    }

    func peripheral(_ peripheral: CBPeripheral, didDiscoverCharacteristicsFor service: CBService, error: (any Error)?) {
        guard !isDead else { return }
        for found in service.characteristics ?? [] { peripheral.setNotifyValue(true, for: found) }
    }

    func peripheral(_ peripheral: CBPeripheral, didUpdateValueFor characteristic: CBCharacteristic, error: (any Error)?)
    {
        guard !isDead, let value = characteristic.value, value.count == 2 else { return }
        let count = read.withLock { read in
            read.append(Int(value[0]) << 8 | Int(value[1]))
            return read.count
        }
        if count == lifetime { die() }
    }
}
