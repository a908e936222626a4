import BluetoothSimulation
import CoreBluetooth
import EventLoops
import Foundation
import Synchronization
import Testing

/// The timing of callbacks.
@Suite struct CallbackTests {
    /// An app that runs a session and records each callback that arrives during one of its own calls.
    private final class Careful: NSObject, CBCentralManagerDelegate, CBPeripheralDelegate, @unchecked Sendable {
        // Safe: everything except the two values with locks is accessed only on the queue.
        let calls = Mutex<[String]>([])
        let faults = Mutex<[String]>([])
        private let queue = DispatchQueue(label: "careful")
        private var manager: CBCentralManager!
        private var found: CBPeripheral?
        private var depth = 0

        override init() {
            super.init()
            queue.sync { call { manager = CBCentralManager(delegate: self, queue: queue) } }
        }

        private func call(_ body: () -> Void) {
            depth += 1
            body()
            depth -= 1
        }

        private func note(_ what: String) {
            dispatchPrecondition(condition: .onQueue(queue))
            calls.withLock { $0.append(what) }
            if depth > 0 { faults.withLock { $0.append(what) } }
        }

        func centralManagerDidUpdateState(_ central: CBCentralManager) {
            note("state")
            call { central.scanForPeripherals(withServices: [Trust.service]) }
        }

        func centralManager(
            _ central: CBCentralManager,
            didDiscover peripheral: CBPeripheral,
            advertisementData: [String: Any],
            rssi RSSI: NSNumber
        ) {
            note("discovered")
            guard found == nil else { return }
            found = peripheral
            peripheral.delegate = self
            call { central.stopScan() }
            call { central.connect(peripheral) }
        }

        func centralManager(_ central: CBCentralManager, didConnect peripheral: CBPeripheral) {
            note("connected")
            call { peripheral.discoverServices([Trust.service]) }
            call { _ = central.retrievePeripherals(withIdentifiers: [peripheral.identifier]) }
        }

        func peripheral(_ peripheral: CBPeripheral, didDiscoverServices error: (any Error)?) {
            note("services")
            for service in peripheral.services ?? [] { call { peripheral.discoverCharacteristics(nil, for: service) } }
        }

        func peripheral(
            _ peripheral: CBPeripheral,
            didDiscoverCharacteristicsFor service: CBService,
            error: (any Error)?
        ) {
            note("characteristics")
            guard let mixed = service.characteristics?.first(where: { $0.uuid == Trust.mixed }) else { return }
            // The second call requests the current state, and needs nothing from the peer (behaviour 5.17).
            call { peripheral.setNotifyValue(true, for: mixed) }
            call { peripheral.setNotifyValue(true, for: mixed) }
            call { peripheral.readRSSI() }
        }

        func peripheral(
            _ peripheral: CBPeripheral,
            didUpdateNotificationStateFor characteristic: CBCharacteristic,
            error: (any Error)?
        ) {
            note("notifying")
        }

        func peripheral(_ peripheral: CBPeripheral, didReadRSSI RSSI: NSNumber, error: (any Error)?) {
            note("rssi")
            call { manager.cancelPeripheralConnection(peripheral) }
        }

        func centralManager(
            _ central: CBCentralManager,
            didDisconnectPeripheral peripheral: CBPeripheral,
            error: (any Error)?
        ) {
            note("disconnected")
        }
    }

    @Test("behaviour 13.2: no callback precedes the return of the method that caused it")
    func callbacksComeAfterTheCall() {
        let trust = TrustWorld()
        let app = trust.phone.launch("careful") { _ in Careful() }
        trust.world.run(for: .seconds(20))
        let calls = app.calls.withLock { $0 }
        #expect(Set(calls).isSuperset(of: ["state", "discovered", "connected", "services", "characteristics", "rssi"]))
        #expect(calls.last == "disconnected" && app.faults.withLock { $0 }.isEmpty, "\(calls)")
    }
}
