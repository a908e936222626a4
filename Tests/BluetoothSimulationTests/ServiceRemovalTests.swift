import AppStandIns
import BluetoothSimulation
import CoreBluetooth
import TestBasics
import Testing

/// A peripheral that removes its services while a central's request is open.
@Suite struct ServiceRemovalTests {
    private final class Server: PeripheralStandIn, @unchecked Sendable {
        init() {
            super.init(service: CBUUID(string: "180D"), [CBMutableCharacteristic(CBUUID(string: "2A38"), .read)])
        }

        override func peripheralManager(_ peripheral: CBPeripheralManager, didReceiveRead request: CBATTRequest) {
            peripheral.removeAllServices()
            publish()
            request.value = Data([1])
            peripheral.respond(to: request, withResult: .success)
        }
    }

    private final class Reader: CentralStandIn, @unchecked Sendable {
        let read = Notes<String>()

        init() { super.init(seeking: [CBUUID(string: "180D")]) }

        override func use(_ characteristic: CBCharacteristic, of peripheral: CBPeripheral) {
            peripheral.readValue(for: characteristic)
        }

        override func peripheral(
            _ peripheral: CBPeripheral,
            didUpdateValueFor characteristic: CBCharacteristic,
            error: (any Error)?
        ) {
            read.add(error.map { "\($0)" } ?? "\([UInt8](characteristic.value ?? Data()))")
        }

        override func peripheral(_ peripheral: CBPeripheral, didModifyServices invalidatedServices: [CBService]) {
            read.add("modified")
        }
    }

    @Test("behaviour 4.20: a read whose service is removed before its answer calls the delegate with the answer")
    func aReadOfARemovedService() {
        let world = SimulatedWorld(seed: 1)
        _ = world.addDevice(named: "Server", options: .accessory).launch("server") { _ in Server() }
        let reader = world.addDevice(named: "Phone", at: Position(x: 1)).launch("reader") { _ in Reader() }
        world.run(for: .seconds(60))
        // The service is removed, and published again.
        #expect(reader.read.all == ["modified", "[1]", "modified"])
    }
}
