import AppStandIns
import CoreBluetooth
import Foundation
import Synchronization

/// A sensor that counts, takes notes, and has a value for paired centrals. It comes back after its process has ended.
final class CountingSensor: NSObject, CBPeripheralManagerDelegate, @unchecked Sendable {
    static let service = CBUUID(string: "180D")
    static let count = CBUUID(string: "2A37")
    static let owner = CBUUID(string: "2A87")
    static let note = CBUUID(string: "2A39")

    /// The number of values that were sent, over all processes of the app.
    final class Memory: Sendable {
        let sent = Mutex(0)
        let notes = Mutex<[UInt8]>([])
    }

    private let memory: Memory
    private var manager: CBPeripheralManager?
    private var counter: CBMutableCharacteristic?

    init(_ memory: Memory) {
        self.memory = memory
        super.init()
        let options = [CBPeripheralManagerOptionRestoreIdentifierKey: "sensor"]
        manager = CBPeripheralManager(delegate: self, queue: DispatchQueue(label: "sensor"), options: options)
    }

    /// Sends the next number to subscribers. Returns whether there was room.
    func sendCount() -> Bool {
        guard let counter, manager?.state == .poweredOn else { return false }
        let number = memory.sent.withLock { $0 + 1 }
        let value = Data([UInt8(truncatingIfNeeded: number >> 8), UInt8(truncatingIfNeeded: number)])
        guard manager?.updateValue(value, for: counter, onSubscribedCentrals: nil) == true else { return false }
        memory.sent.withLock { $0 = number }
        return true
    }

    func peripheralManager(_ peripheral: CBPeripheralManager, willRestoreState dict: [String: Any]) {
        let services = dict[CBPeripheralManagerRestoredStateServicesKey] as? [CBMutableService]
        let characteristics = services?.first?.characteristics as? [CBMutableCharacteristic]
        counter = characteristics?.first { $0.uuid == Self.count }
    }

    func peripheralManagerDidUpdateState(_ peripheral: CBPeripheralManager) {
        guard peripheral.state == .poweredOn else {
            // Below poweredOff the services are gone (behaviour 1.13).
            if peripheral.state.rawValue < CBManagerState.poweredOff.rawValue { counter = nil }
            return
        }
        if counter == nil { publish(peripheral) }
        guard !peripheral.isAdvertising else { return }
        peripheral.startAdvertising([
            CBAdvertisementDataLocalNameKey: "Sensor", CBAdvertisementDataServiceUUIDsKey: [Self.service],
        ])
    }

    private func publish(_ peripheral: CBPeripheralManager) {
        let made = CBMutableCharacteristic(Self.count, .notify)
        let owner = CBMutableCharacteristic(Self.owner, .read, isEncrypted: true)
        let note = CBMutableCharacteristic(Self.note, .writeWithoutResponse)
        let service = CBMutableService(type: Self.service, primary: true)
        service.characteristics = [made, owner, note]
        counter = made
        peripheral.add(service)
    }

    func peripheralManager(_ peripheral: CBPeripheralManager, didReceiveRead request: CBATTRequest) {
        request.value = Data([42])
        peripheral.respond(to: request, withResult: .success)
    }

    func peripheralManager(_ peripheral: CBPeripheralManager, didReceiveWrite requests: [CBATTRequest]) {
        memory.notes.withLock { notes in notes += requests.compactMap { $0.value?.first } }
    }
}

/// A careful app: it connects again whatever ended a connection, and tries again what failed.
final class CarefulCollector: NSObject, CBCentralManagerDelegate, CBPeripheralDelegate, @unchecked Sendable {
    /// The knowledge of the app, over all of its processes.
    final class Memory: Sendable {
        let counts = Mutex<[Int]>([])
        let owners = Mutex(0)
    }

    private let memory: Memory
    private let queue = DispatchQueue(label: "collector")
    private var manager: CBCentralManager?
    private var sensor: CBPeripheral?
    /// The sensor to retrieve when Bluetooth is back.
    private var known: UUID?
    private var note: CBCharacteristic?
    private let ready = Mutex((subscribed: false, owner: false))

    init(_ memory: Memory) {
        self.memory = memory
        super.init()
        let options = [CBCentralManagerOptionRestoreIdentifierKey: "collector"]
        manager = CBCentralManager(delegate: self, queue: queue, options: options)
    }

    var isReady: Bool { ready.withLock { $0.subscribed && $0.owner } }

    /// Writes a note, if the link has room for it.
    func write(_ number: UInt8) -> Bool {
        guard let sensor, let note, sensor.state == .connected, sensor.canSendWriteWithoutResponse else { return false }
        sensor.writeValue(Data([number]), for: note, type: .withoutResponse)
        return true
    }

    func centralManager(_ central: CBCentralManager, willRestoreState dict: [String: Any]) {
        sensor = (dict[CBCentralManagerRestoredStatePeripheralsKey] as? [CBPeripheral])?.first
        sensor?.delegate = self
    }

    func centralManagerDidUpdateState(_ central: CBCentralManager) {
        forget()
        guard central.state == .poweredOn else {
            // Below poweredOff, peripherals are invalid (behaviour 1.13).
            if central.state.rawValue < CBManagerState.poweredOff.rawValue, let old = sensor {
                (known, sensor) = (old.identifier, nil)
            }
            return
        }
        if sensor == nil, let known {
            sensor = central.retrievePeripherals(withIdentifiers: [known]).first
            sensor?.delegate = self
        }
        guard let sensor else { return central.scanForPeripherals(withServices: [CountingSensor.service]) }
        guard sensor.state == .connected else { return central.connect(sensor) }
        explore(sensor)
    }

    func centralManager(
        _ central: CBCentralManager,
        didDiscover peripheral: CBPeripheral,
        advertisementData: [String: Any],
        rssi RSSI: NSNumber
    ) {
        central.stopScan()
        sensor = peripheral
        peripheral.delegate = self
        central.connect(peripheral)
    }

    func centralManager(_ central: CBCentralManager, didConnect peripheral: CBPeripheral) { explore(peripheral) }

    func centralManager(
        _ central: CBCentralManager,
        didFailToConnect peripheral: CBPeripheral,
        error: (any Error)?
    ) {
        central.connect(peripheral)
    }

    func centralManager(
        _ central: CBCentralManager,
        didDisconnectPeripheral peripheral: CBPeripheral,
        error: (any Error)?
    ) {
        forget()
        central.connect(peripheral)
    }

    private func forget() {
        note = nil
        ready.withLock { $0 = (false, false) }
    }

    private func explore(_ peripheral: CBPeripheral) { peripheral.discoverServices([CountingSensor.service]) }

    /// Tries again after a while what a bad answer has ended.
    private func exploreLater() {
        queue.asyncAfter(deadline: .now() + 5) { [weak self] in
            guard let self, let sensor, sensor.state == .connected, !isReady else { return }
            explore(sensor)
        }
    }

    func peripheral(_ peripheral: CBPeripheral, didModifyServices invalidatedServices: [CBService]) {
        forget()
        explore(peripheral)
    }

    func peripheral(_ peripheral: CBPeripheral, didDiscoverServices error: (any Error)?) {
        guard error == nil, let service = peripheral.services?.first(where: { $0.uuid == CountingSensor.service })
        else { return exploreLater() }
        peripheral.discoverCharacteristics(nil, for: service)
    }

    func peripheral(
        _ peripheral: CBPeripheral,
        didDiscoverCharacteristicsFor service: CBService,
        error: (any Error)?
    ) {
        guard error == nil, let all = service.characteristics, all.count == 3 else { return exploreLater() }
        for each in all {
            if each.uuid == CountingSensor.count { peripheral.setNotifyValue(true, for: each) }
            if each.uuid == CountingSensor.owner { peripheral.readValue(for: each) }
            if each.uuid == CountingSensor.note { note = each }
        }
    }

    func peripheral(
        _ peripheral: CBPeripheral,
        didUpdateNotificationStateFor characteristic: CBCharacteristic,
        error: (any Error)?
    ) {
        guard error == nil, characteristic.isNotifying else { return exploreLater() }
        ready.withLock { $0.subscribed = true }
    }

    func peripheral(
        _ peripheral: CBPeripheral,
        didUpdateValueFor characteristic: CBCharacteristic,
        error: (any Error)?
    ) {
        guard error == nil, let value = characteristic.value, let first = value.first else { return exploreLater() }
        if characteristic.uuid == CountingSensor.owner {
            guard first == 42 else { return exploreLater() }
            ready.withLock { $0.owner = true }
        } else if value.count == 2 {
            memory.counts.withLock { $0.append(Int(first) << 8 | Int(value[value.startIndex + 1])) }
        }
    }
}
