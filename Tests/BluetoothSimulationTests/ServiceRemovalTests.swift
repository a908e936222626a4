import BluetoothSimulation
import CoreBluetooth
import Synchronization
import Testing

/// A peripheral that removes its services while a central's request is open.
@Suite struct ServiceRemovalTests {
    private final class Server: NSObject, CBPeripheralManagerDelegate, @unchecked Sendable {
        // Safe: used on the manager's queue only, once it is made.
        private var manager: CBPeripheralManager?

        override init() {
            super.init()
            manager = CBPeripheralManager(delegate: self, queue: DispatchQueue(label: "server"))
        }

        private func publish() {
            let service = CBMutableService(type: CBUUID(string: "180D"), primary: true)
            let location = CBMutableCharacteristic(
                type: CBUUID(string: "2A38"),
                properties: .read,
                value: nil,
                permissions: .readable
            )
            service.characteristics = [location]
            manager?.add(service)
        }

        func peripheralManagerDidUpdateState(_ peripheral: CBPeripheralManager) {
            guard peripheral.state == .poweredOn else { return }
            publish()
            peripheral.startAdvertising([CBAdvertisementDataServiceUUIDsKey: [CBUUID(string: "180D")]])
        }

        func peripheralManager(_ peripheral: CBPeripheralManager, didReceiveRead request: CBATTRequest) {
            peripheral.removeAllServices()
            publish()
            request.value = Data([1])
            peripheral.respond(to: request, withResult: .success)
        }
    }

    private final class Reader: NSObject, CBCentralManagerDelegate, CBPeripheralDelegate, @unchecked Sendable {
        // Safe: used on the manager's queue only, once it is made.
        private var manager: CBCentralManager?
        private var server: CBPeripheral?
        let read = Mutex<[String]>([])

        override init() {
            super.init()
            manager = CBCentralManager(delegate: self, queue: DispatchQueue(label: "reader"))
        }

        func centralManagerDidUpdateState(_ central: CBCentralManager) {
            central.scanForPeripherals(withServices: [CBUUID(string: "180D")])
        }

        func centralManager(
            _ central: CBCentralManager,
            didDiscover peripheral: CBPeripheral,
            advertisementData: [String: Any],
            rssi: NSNumber
        ) {
            guard server == nil else { return }
            server = peripheral
            peripheral.delegate = self
            central.connect(peripheral)
        }

        func centralManager(_ central: CBCentralManager, didConnect peripheral: CBPeripheral) {
            peripheral.discoverServices(nil)
        }

        func peripheral(_ peripheral: CBPeripheral, didDiscoverServices error: (any Error)?) {
            for service in peripheral.services ?? [] { peripheral.discoverCharacteristics(nil, for: service) }
        }

        func peripheral(
            _ peripheral: CBPeripheral,
            didDiscoverCharacteristicsFor service: CBService,
            error: (any Error)?
        ) {
            for each in service.characteristics ?? [] { peripheral.readValue(for: each) }
        }

        func peripheral(
            _ peripheral: CBPeripheral,
            didUpdateValueFor characteristic: CBCharacteristic,
            error: (any Error)?
        ) {
            read.withLock { $0.append(error.map { "\($0)" } ?? "\([UInt8](characteristic.value ?? Data()))") }
        }

        func peripheral(_ peripheral: CBPeripheral, didModifyServices invalidatedServices: [CBService]) {
            read.withLock { $0.append("modified") }
        }
    }

    @Test("behaviour 4.20: a read whose service is removed before its answer calls the delegate with the answer")
    func aReadOfARemovedService() {
        let world = SimulatedWorld(seed: 1)
        _ = world.addDevice(named: "Server", options: .accessory).launch("server") { _ in Server() }
        let reader = world.addDevice(named: "Phone", at: Position(x: 1)).launch("reader") { _ in Reader() }
        world.run(for: .seconds(60))
        // The service is removed, and published again.
        #expect(reader.read.withLock { $0 } == ["modified", "[1]", "modified"])
    }
}
