import BluetoothTypes
import CoreBluetooth
import SampleMessages
import ServiceMessages
import ServiceStandIns
import Testing

/// An app in the central role with a peripheral, and all its delegate callbacks.
final class CentralApp: NSObject, CBCentralManagerDelegate, CBPeripheralDelegate {
    let service = StandInService.logged()
    let queue = DispatchQueue(label: "app")
    let peer = UUID()
    private(set) var manager: CBCentralManager!
    var calls: [String] = []
    var lastError: (any Error)?
    /// Whether the app keeps discovered peripherals.
    var keepsPeripherals = true
    var peripheral: CBPeripheral!
    var advertisementData: [String: Any] = [:]
    var invalidated: [CBService] = []
    /// Called from inside each callback to inspect the objects.
    var onCall: ((String) -> Void)?

    init(options: [String: Any]? = nil) {
        super.init()
        manager = service.run { CBCentralManager(delegate: self, queue: queue, options: options) }
    }

    // MARK: Preparation

    static func poweredOn(options: [String: Any]? = nil) -> CentralApp {
        let app = CentralApp(options: options)
        app.powerOn()
        return app
    }

    /// An app that has discovered its peripheral.
    static func discovering(options: [String: Any]? = nil) -> CentralApp {
        let app = poweredOn(options: options)
        app.discover()
        return app
    }

    static func connected() -> CentralApp {
        let app = CentralApp()
        app.connect()
        return app
    }

    /// An app that has explored its peripheral, and the characteristic found.
    static func exploring(
        properties: CBCharacteristicProperties = [.read, .write, .writeWithoutResponse, .notify]
    ) -> (CentralApp, CBCharacteristic) {
        let app = CentralApp()
        return (app, app.explore(properties: properties))
    }

    func powerOn() {
        service.deliver(.stateChanged(.poweredOn))
        take()
    }

    func discover(_ advertisement: Advertisement = Advertisement(), name: String? = nil, rssi: Int = -50) {
        if !manager.isScanning { manager.scanForPeripherals(withServices: nil) }
        service.deliver(.discovered(PeerInfo(identifier: peer, name: name), advertisement, rssi: rssi))
    }

    /// Connects to the peripheral, and clears all recorded calls and requests.
    @discardableResult
    func connect(maximumWrite: Int = 20) -> CBPeripheral {
        if manager.state != .poweredOn { powerOn() }
        if peripheral == nil { discover() }
        manager.connect(peripheral)
        service.deliver(.connected(PeerInfo(identifier: peer), maximumWriteWithoutResponse: maximumWrite))
        peripheral.delegate = self
        take()
        return peripheral
    }

    /// Connects and discovers one service (handles 1 to 9) with a characteristic at 3 and its descriptors at 4 and 5.
    @discardableResult
    func explore(properties: CBCharacteristicProperties = [.read, .write, .writeWithoutResponse, .notify])
        -> CBCharacteristic
    {
        connect()
        service.deliver(.servicesDiscovered(peer: peer, .success([.heartRate])))
        let measurement = RemoteCharacteristic(handle: 3, uuid: 0x2A37, properties: UInt8(properties.rawValue))
        service.deliver(.characteristicsDiscovered(peer: peer, service: 1, .success([measurement])))
        let descriptors = [RemoteDescriptor(handle: 4, uuid: 0x2902), RemoteDescriptor(handle: 5, uuid: 0x2901)]
        service.deliver(.descriptorsDiscovered(peer: peer, characteristic: 3, .success(descriptors)))
        take()
        return characteristic
    }

    var characteristic: CBCharacteristic! { peripheral.services?.first?.characteristics?.first }

    /// Removes and returns the calls and requests since the last call.
    @discardableResult
    func take() -> (calls: [String], requests: [Request]) {
        defer { calls = [] }
        return (calls, service.takeRequests())
    }

    private func note(_ call: String, _ error: (any Error)? = nil) {
        dispatchPrecondition(condition: .onQueue(queue))
        lastError = error
        calls.append(error == nil ? call : call + "!")
        onCall?(call)
    }

    // MARK: CBCentralManagerDelegate

    func centralManagerDidUpdateState(_ central: CBCentralManager) { note("state \(central.state.rawValue)") }

    func centralManager(
        _ central: CBCentralManager,
        didDiscover peripheral: CBPeripheral,
        advertisementData: [String: Any],
        rssi RSSI: NSNumber
    ) {
        if keepsPeripherals { self.peripheral = peripheral }
        self.advertisementData = advertisementData
        note("didDiscover \(RSSI)")
    }

    func centralManager(_ central: CBCentralManager, didConnect peripheral: CBPeripheral) { note("didConnect") }

    func centralManager(_ central: CBCentralManager, didFailToConnect peripheral: CBPeripheral, error: (any Error)?) {
        note("didFailToConnect", error)
    }

    func centralManager(
        _ central: CBCentralManager,
        didDisconnectPeripheral peripheral: CBPeripheral,
        error: (any Error)?
    ) {
        note("didDisconnect", error)
    }

    // MARK: CBPeripheralDelegate

    func peripheralDidUpdateName(_ peripheral: CBPeripheral) { note("name \(peripheral.name ?? "nil")") }

    func peripheral(_ peripheral: CBPeripheral, didModifyServices invalidatedServices: [CBService]) {
        invalidated = invalidatedServices
        note("didModifyServices")
    }

    func peripheral(_ peripheral: CBPeripheral, didReadRSSI RSSI: NSNumber, error: (any Error)?) {
        note("rssi \(RSSI)", error)
    }

    func peripheral(_ peripheral: CBPeripheral, didDiscoverServices error: (any Error)?) { note("services", error) }

    func peripheral(_ peripheral: CBPeripheral, didDiscoverIncludedServicesFor service: CBService, error: (any Error)?)
    {
        note("included", error)
    }

    func peripheral(_ peripheral: CBPeripheral, didDiscoverCharacteristicsFor service: CBService, error: (any Error)?) {
        note("characteristics", error)
    }

    func peripheral(
        _ peripheral: CBPeripheral,
        didDiscoverDescriptorsFor characteristic: CBCharacteristic,
        error: (any Error)?
    ) {
        note("descriptors", error)
    }

    func peripheral(_ peripheral: CBPeripheral, didUpdateValueFor characteristic: CBCharacteristic, error: (any Error)?)
    {
        note("value \(characteristic.value.map { hexadecimal($0) } ?? "nil")", error)
    }

    func peripheral(_ peripheral: CBPeripheral, didUpdateValueFor descriptor: CBDescriptor, error: (any Error)?) {
        note("descriptor value", error)
    }

    func peripheral(_ peripheral: CBPeripheral, didWriteValueFor characteristic: CBCharacteristic, error: (any Error)?)
    {
        note("written", error)
    }

    func peripheral(_ peripheral: CBPeripheral, didWriteValueFor descriptor: CBDescriptor, error: (any Error)?) {
        note("descriptor written", error)
    }

    func peripheral(
        _ peripheral: CBPeripheral,
        didUpdateNotificationStateFor characteristic: CBCharacteristic,
        error: (any Error)?
    ) {
        note("notifying \(characteristic.isNotifying)", error)
    }

    func peripheralIsReady(toSendWriteWithoutResponse peripheral: CBPeripheral) { note("ready") }

    func peripheral(_ peripheral: CBPeripheral, didOpen channel: CBL2CAPChannel?, error: (any Error)?) {
        note(channel == nil ? "no channel" : "channel", error)
    }
}

extension RemoteService {
    static let heartRate = RemoteService(handle: 1, endHandle: 9, uuid: 0x180D, isPrimary: true)
    static let battery = RemoteService(handle: 10, endHandle: 19, uuid: 0x180F, isPrimary: true)
    static let secondary = RemoteService(handle: 20, endHandle: 29, uuid: 0x1812, isPrimary: false)
}
