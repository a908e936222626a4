import CoreBluetooth
import Foundation

/// An app that follows another device's note, and resumes after the system has terminated it.
package final class NoteReader: NSObject, CBCentralManagerDelegate, CBPeripheralDelegate, @unchecked Sendable {
    // Safe: all state is only touched on the manager's queue, and `manager` is set once.
    private let say: @Sendable (String) -> Void
    private var manager: CBCentralManager!
    private var writer: CBPeripheral?

    package init(say: @escaping @Sendable (String) -> Void) {
        self.say = say
        super.init()
        let options = [CBCentralManagerOptionRestoreIdentifierKey: "reader"]
        manager = CBCentralManager(delegate: self, queue: DispatchQueue(label: "reader"), options: options)
    }

    package func centralManager(_ central: CBCentralManager, willRestoreState dict: [String: Any]) {
        let known = dict[CBCentralManagerRestoredStatePeripheralsKey] as? [CBPeripheral] ?? []
        writer = known.first
        writer?.delegate = self
        let note = writer?.services?.first?.characteristics?.first
        say("willRestoreState: \(known.count) peripheral, note is notifying: \(note?.isNotifying == true)")
    }

    package func centralManagerDidUpdateState(_ central: CBCentralManager) {
        guard central.state == .poweredOn else { return }
        say("poweredOn")
        if writer == nil { central.scanForPeripherals(withServices: [NoteProfile.service]) }
    }

    package func centralManager(
        _ central: CBCentralManager,
        didDiscover peripheral: CBPeripheral,
        advertisementData: [String: Any],
        rssi RSSI: NSNumber
    ) {
        guard writer == nil else { return }
        let name = advertisementData[CBAdvertisementDataLocalNameKey] as? String
        let overflow = advertisementData[CBAdvertisementDataOverflowServiceUUIDsKey] as? [CBUUID]
        say(
            "finds \(name ?? "a device without a name")"
                + (overflow == nil ? "" : ", with its service in the overflow area")
        )
        writer = peripheral
        peripheral.delegate = self
        central.stopScan()
        central.connect(peripheral)
    }

    package func centralManager(_ central: CBCentralManager, didConnect peripheral: CBPeripheral) {
        say("is connected")
        peripheral.discoverServices([NoteProfile.service])
    }

    package func peripheral(_ peripheral: CBPeripheral, didDiscoverServices error: (any Error)?) {
        for service in peripheral.services ?? [] {
            peripheral.discoverCharacteristics([NoteProfile.note], for: service)
        }
    }

    package func peripheral(
        _ peripheral: CBPeripheral,
        didDiscoverCharacteristicsFor service: CBService,
        error: (any Error)?
    ) {
        for note in service.characteristics ?? [] {
            peripheral.readValue(for: note)
            peripheral.setNotifyValue(true, for: note)
        }
    }

    package func peripheral(
        _ peripheral: CBPeripheral,
        didUpdateValueFor characteristic: CBCharacteristic,
        error: (any Error)?
    ) {
        let text = characteristic.value.map { String(decoding: $0, as: UTF8.self) } ?? "nothing"
        say("reads \"\(text)\"")
    }
}
