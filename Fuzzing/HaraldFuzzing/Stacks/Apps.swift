import CoreBluetooth

/// The identifiers that the two apps share.
enum Profile {
    static var service: CBUUID { CBUUID(string: "180D") }
    static var notifying: CBUUID { CBUUID(string: "2A37") }
    static var long: CBUUID { CBUUID(string: "2A38") }
    static var writable: CBUUID { CBUUID(string: "2A39") }
    static var indicating: CBUUID { CBUUID(string: "2A3A") }
    /// A value that needs several packets with any MTU.
    static let longValue = Data((0..<400).map { UInt8(truncatingIfNeeded: $0) })
}

/// The sensor app. Everything happens on the main queue, which is the thread that runs the loop.
final class PeripheralApp: NSObject, CBPeripheralManagerDelegate, @unchecked Sendable {
    // Safe: accessed only on the main queue.

    private var manager: CBPeripheralManager!
    private var notifying: CBMutableCharacteristic!
    private var indicating: CBMutableCharacteristic!
    private var written = Data()

    override init() {
        super.init()
        manager = CBPeripheralManager(delegate: self, queue: .main)
    }

    func peripheralManagerDidUpdateState(_ peripheral: CBPeripheralManager) {
        guard peripheral.state == .poweredOn else { return }
        let service = CBMutableService(type: Profile.service, primary: true)
        notifying = CBMutableCharacteristic(
            type: Profile.notifying,
            properties: .notify,
            value: nil,
            permissions: .readable
        )
        indicating = CBMutableCharacteristic(
            type: Profile.indicating,
            properties: .indicate,
            value: nil,
            permissions: .readable
        )
        let long = CBMutableCharacteristic(
            type: Profile.long,
            properties: .read,
            value: nil,
            permissions: .readable
        )
        let writable = CBMutableCharacteristic(
            type: Profile.writable,
            properties: [.write, .writeWithoutResponse],
            value: nil,
            permissions: .writeable
        )
        service.characteristics = [notifying, long, writable, indicating]
        peripheral.removeAllServices()
        peripheral.add(service)
    }

    func peripheralManager(_ peripheral: CBPeripheralManager, didAdd service: CBService, error: (any Error)?) {
        peripheral.startAdvertising([
            CBAdvertisementDataServiceUUIDsKey: [Profile.service], CBAdvertisementDataLocalNameKey: "Fuzz",
        ])
    }

    func peripheralManager(_ peripheral: CBPeripheralManager, didReceiveRead request: CBATTRequest) {
        guard request.offset <= Profile.longValue.count else {
            return peripheral.respond(to: request, withResult: .invalidOffset)
        }
        request.value = Profile.longValue.dropFirst(request.offset)
        peripheral.respond(to: request, withResult: .success)
    }

    func peripheralManager(_ peripheral: CBPeripheralManager, didReceiveWrite requests: [CBATTRequest]) {
        for request in requests { written = request.value ?? Data() }
        guard let first = requests.first else { return }
        peripheral.respond(to: first, withResult: .success)
    }

    func peripheralManager(
        _ peripheral: CBPeripheralManager,
        central: CBCentral,
        didSubscribeTo characteristic: CBCharacteristic
    ) {
        let value = Data([0, 60, UInt8(truncatingIfNeeded: written.count)])
        let target: CBMutableCharacteristic = characteristic.uuid == Profile.notifying ? notifying : indicating
        _ = peripheral.updateValue(value, for: target, onSubscribedCentrals: nil)
    }
}

/// The app that discovers the sensor, reads, writes, subscribes, and disconnects.
final class CentralApp: NSObject, CBCentralManagerDelegate, CBPeripheralDelegate, @unchecked Sendable {
    // Safe: accessed only on the main queue.

    private(set) var isThrough = false
    private var manager: CBCentralManager!
    private var sensor: CBPeripheral?
    private var values = 0

    override init() {
        super.init()
        manager = CBCentralManager(delegate: self, queue: .main)
    }

    func centralManagerDidUpdateState(_ central: CBCentralManager) {
        guard central.state == .poweredOn else { return }
        central.scanForPeripherals(withServices: [Profile.service])
    }

    func centralManager(
        _ central: CBCentralManager,
        didDiscover peripheral: CBPeripheral,
        advertisementData: [String: Any],
        rssi RSSI: NSNumber
    ) {
        guard sensor == nil else { return }
        sensor = peripheral
        peripheral.delegate = self
        central.stopScan()
        central.connect(peripheral)
    }

    func centralManager(_ central: CBCentralManager, didConnect peripheral: CBPeripheral) {
        values = 0
        peripheral.discoverServices([Profile.service])
    }

    func centralManager(_ central: CBCentralManager, didFailToConnect peripheral: CBPeripheral, error: (any Error)?) {
        startAgain()
    }

    func centralManager(
        _ central: CBCentralManager,
        didDisconnectPeripheral peripheral: CBPeripheral,
        error: (any Error)?
    ) {
        if error == nil { isThrough = true } else { startAgain() }
    }

    private func startAgain() {
        sensor = nil
        manager.scanForPeripherals(withServices: [Profile.service])
    }

    func peripheral(_ peripheral: CBPeripheral, didDiscoverServices error: (any Error)?) {
        guard let service = peripheral.services?.first else { return leave(error) }
        peripheral.discoverCharacteristics(nil, for: service)
    }

    func peripheral(
        _ peripheral: CBPeripheral,
        didDiscoverCharacteristicsFor service: CBService,
        error: (any Error)?
    ) {
        guard let writable = find(Profile.writable), let long = find(Profile.long) else { return leave(error) }
        peripheral.discoverDescriptors(for: long)
        peripheral.writeValue(Data([1, 2, 3]), for: writable, type: .withoutResponse)
        peripheral.readValue(for: long)
    }

    func peripheral(
        _ peripheral: CBPeripheral,
        didUpdateValueFor characteristic: CBCharacteristic,
        error: (any Error)?
    ) {
        hold((characteristic.value?.count ?? 0) <= 512, "a value of more than 512 octets")
        switch characteristic.uuid {
        case Profile.long:
            guard error == nil, let writable = find(Profile.writable) else { return leave(error) }
            peripheral.writeValue(Profile.longValue, for: writable, type: .withResponse)
        case Profile.notifying, Profile.indicating:
            values += 1
            if values == 2 { leave(nil) }
        default: break
        }
    }

    func peripheral(
        _ peripheral: CBPeripheral,
        didWriteValueFor characteristic: CBCharacteristic,
        error: (any Error)?
    ) {
        guard error == nil, let notifying = find(Profile.notifying), let indicating = find(Profile.indicating) else {
            return leave(error)
        }
        peripheral.setNotifyValue(true, for: notifying)
        peripheral.setNotifyValue(true, for: indicating)
    }

    func peripheral(_ peripheral: CBPeripheral, didModifyServices invalidatedServices: [CBService]) {
        peripheral.discoverServices([Profile.service])
    }

    private func find(_ uuid: CBUUID) -> CBCharacteristic? {
        sensor?.services?.flatMap { $0.characteristics ?? [] }.first { $0.uuid == uuid }
    }

    private func leave(_: (any Error)?) {
        if let sensor { manager.cancelPeripheralConnection(sensor) }
    }
}
