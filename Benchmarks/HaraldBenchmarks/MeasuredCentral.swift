import CoreBluetooth
import Dispatch
import Foundation

/// Connects to the peripheral of ``SideBySide``, discovers its whole table, subscribes and writes, and prints durations
/// and throughput.
final class MeasuredCentral: NSObject, CBCentralManagerDelegate, CBPeripheralDelegate, @unchecked Sendable {
    // Safe: accessed only on the manager's queue, except for `manager`, which is set before any callback, and the
    // semaphore.
    let done = DispatchSemaphore(value: 0)
    private let queue = DispatchQueue(label: "measured")
    private let seconds: Double
    private var manager: CBCentralManager!
    private var peripheral: CBPeripheral?
    private var begin: UInt64 = 0
    private var found: [CBUUID: CBCharacteristic] = [:]
    private var undiscovered = 0
    private var received = OctetCount()
    private var unwritten = 0

    init(seconds: Double) {
        self.seconds = seconds
        super.init()
        manager = CBCentralManager(delegate: self, queue: queue)
    }

    func centralManagerDidUpdateState(_ central: CBCentralManager) {
        guard central.state == .poweredOn else { return SideBySide.say("state \(central.state.rawValue)") }
        central.scanForPeripherals(withServices: [SideBySide.service])
    }

    func centralManager(
        _ central: CBCentralManager,
        didDiscover peripheral: CBPeripheral,
        advertisementData: [String: Any],
        rssi RSSI: NSNumber
    ) {
        guard self.peripheral == nil else { return }
        self.peripheral = peripheral
        peripheral.delegate = self
        central.stopScan()
        begin = SideBySide.now
        central.connect(peripheral)
    }

    // MARK: Discovery

    func centralManager(_ central: CBCentralManager, didConnect peripheral: CBPeripheral) {
        peripheral.discoverServices(nil)
    }

    func peripheral(_ peripheral: CBPeripheral, didDiscoverServices error: (any Error)?) {
        let services = peripheral.services ?? []
        undiscovered = services.count
        for service in services { peripheral.discoverCharacteristics(nil, for: service) }
    }

    func peripheral(_ peripheral: CBPeripheral, didDiscoverCharacteristicsFor service: CBService, error: (any Error)?) {
        let characteristics = service.characteristics ?? []
        undiscovered += characteristics.count - 1
        for characteristic in characteristics {
            found[characteristic.uuid] = characteristic
            peripheral.discoverDescriptors(for: characteristic)
        }
    }

    func peripheral(
        _ peripheral: CBPeripheral,
        didDiscoverDescriptorsFor characteristic: CBCharacteristic,
        error: (any Error)?
    ) {
        undiscovered -= 1
        guard undiscovered == 0 else { return }
        SideBySide.say("known \(Double((SideBySide.now - begin) / 1_000) / 1e6)")
        guard let notified = found[SideBySide.notified] else { return SideBySide.say("another table") }
        peripheral.setNotifyValue(true, for: notified)
        queue.asyncAfter(deadline: .now() + seconds) { [self] in
            let rate = OctetCount.perSecond(UInt64(received.octets), received.duration)
            SideBySide.say("notified \(rate)")
            peripheral.setNotifyValue(false, for: notified)
        }
    }

    // MARK: Data

    func peripheral(
        _ peripheral: CBPeripheral,
        didUpdateNotificationStateFor characteristic: CBCharacteristic,
        error: (any Error)?
    ) {
        guard !characteristic.isNotifying else { return }
        guard found[SideBySide.tally] != nil else { return manager.cancelPeripheralConnection(peripheral) }
        unwritten = SideBySide.writes
        write(peripheral)
    }

    func peripheralIsReady(toSendWriteWithoutResponse peripheral: CBPeripheral) { write(peripheral) }

    private func write(_ peripheral: CBPeripheral) {
        guard unwritten > 0, let written = found[SideBySide.written] else { return }
        let value = Data(repeating: 0x55, count: peripheral.maximumWriteValueLength(for: .withoutResponse))
        while unwritten > 0, peripheral.canSendWriteWithoutResponse {
            peripheral.writeValue(value, for: written, type: .withoutResponse)
            unwritten -= 1
        }
        // The read follows all writes.
        if unwritten == 0, let tally = found[SideBySide.tally] { peripheral.readValue(for: tally) }
    }

    func peripheral(_ peripheral: CBPeripheral, didUpdateValueFor characteristic: CBCharacteristic, error: (any Error)?)
    {
        let value = characteristic.value ?? Data()
        guard characteristic.uuid == SideBySide.tally else { return received.take(value.count) }
        guard value.count == 16 else { return SideBySide.say("no tally") }
        let numbers = [value.prefix(8), value.suffix(8)].map {
            $0.reversed().reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
        }
        SideBySide.say("written \(OctetCount.perSecond(numbers[0], numbers[1]))")
        manager.cancelPeripheralConnection(peripheral)
    }

    func centralManager(
        _ central: CBCentralManager,
        didDisconnectPeripheral peripheral: CBPeripheral,
        error: (any Error)?
    ) {
        if let error { SideBySide.say("disconnected: \(error)") }
        done.signal()
    }
}
