import BluetoothSimulation
import CoreBluetooth
import EventLoops
import Foundation
import Synchronization

/// An app connected to a peripheral, without traffic.
final class IdlePair {
    private let world = SimulatedWorld(seed: 1)
    private let apps: (Advertiser, Connector)

    init() {
        let sensor = world.addDevice(named: "sensor").launch("sensor") { _ in Advertiser() }
        let connector = world.addDevice(named: "phone").launch("phone") { _ in Connector() }
        apps = (sensor, connector)
        let found = world.run(for: .seconds(30)) { connector.isConnected.withLock { $0 } }
        precondition(found, "the two find each other")
        world.run(for: .seconds(2))
    }

    func run(seconds: Int) {
        world.run(for: .seconds(seconds))
        precondition(apps.1.isConnected.withLock { $0 }, "the link holds")
    }
}

private let service = "180D"

private final class Advertiser: NSObject, CBPeripheralManagerDelegate, @unchecked Sendable {
    // Safe: `manager` is set once, before any callback.
    private var manager: CBPeripheralManager!

    override init() {
        super.init()
        manager = CBPeripheralManager(delegate: self, queue: DispatchQueue(label: "sensor"))
    }

    func peripheralManagerDidUpdateState(_ peripheral: CBPeripheralManager) {
        guard peripheral.state == .poweredOn else { return }
        peripheral.startAdvertising([CBAdvertisementDataServiceUUIDsKey: [CBUUID(string: service)]])
    }
}

private final class Connector: NSObject, CBCentralManagerDelegate, @unchecked Sendable {
    // Safe: accessed only on the manager's queue, except for the flag, which has its own lock.
    private var manager: CBCentralManager!
    private var peripheral: CBPeripheral?
    let isConnected = Mutex(false)

    override init() {
        super.init()
        manager = CBCentralManager(delegate: self, queue: DispatchQueue(label: "phone"))
    }

    func centralManagerDidUpdateState(_ central: CBCentralManager) {
        if central.state == .poweredOn { central.scanForPeripherals(withServices: [CBUUID(string: service)]) }
    }

    func centralManager(
        _ central: CBCentralManager,
        didDiscover peripheral: CBPeripheral,
        advertisementData: [String: Any],
        rssi RSSI: NSNumber
    ) {
        self.peripheral = peripheral
        central.stopScan()
        central.connect(peripheral)
    }

    func centralManager(_ central: CBCentralManager, didConnect peripheral: CBPeripheral) {
        isConnected.withLock { $0 = true }
    }

    func centralManager(
        _ central: CBCentralManager,
        didDisconnectPeripheral peripheral: CBPeripheral,
        error: (any Error)?
    ) {
        isConnected.withLock { $0 = false }
    }
}
