import BluetoothSimulation
import CoreBluetooth
import EventLoops
import Foundation
import Synchronization

/// An app connected to peripherals, without traffic: one, unless there are to be more.
final class IdlePair {
    private let world = SimulatedWorld(seed: 1)
    private let sensors: [Advertiser]
    private let connector: Connector

    init(sensors count: Int = 1) {
        sensors = (0..<count).map { [world] _ in world.addDevice(named: "sensor").launch("sensor") { _ in Advertiser() }
        }
        connector = world.addDevice(named: "phone").launch("phone") { _ in Connector(to: count) }
        let found = world.run(for: .seconds(30)) { [connector] in connector.connected.withLock { $0 } == count }
        precondition(found, "they find each other")
        world.run(for: .seconds(2))
    }

    func run(seconds: Int) {
        world.run(for: .seconds(seconds))
        precondition(connector.connected.withLock { $0 } == sensors.count, "the links hold")
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
    // Safe: accessed only on the manager's queue, except for the number of links, which has its own lock.
    private var manager: CBCentralManager!
    private var peripherals: [CBPeripheral] = []
    private let wanted: Int
    let connected = Mutex(0)

    init(to wanted: Int) {
        self.wanted = wanted
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
        peripherals.append(peripheral)
        if peripherals.count == wanted { central.stopScan() }
        central.connect(peripheral)
    }

    func centralManager(_ central: CBCentralManager, didConnect peripheral: CBPeripheral) {
        connected.withLock { $0 += 1 }
    }

    func centralManager(
        _ central: CBCentralManager,
        didDisconnectPeripheral peripheral: CBPeripheral,
        error: (any Error)?
    ) {
        connected.withLock { $0 -= 1 }
    }
}
