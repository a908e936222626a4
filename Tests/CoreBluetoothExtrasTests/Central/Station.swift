import AppStandIns
import BluetoothSimulation
import CoreBluetooth
import Foundation
import Synchronization

/// A peripheral whose values identify the request: reads return R and an increasing number, and notifications carry N
/// and an increasing number.
final class Station: NSObject, CBPeripheralManagerDelegate, @unchecked Sendable {
    // Safe: mutable state is in a mutex, and the manager is set once.
    static let service = CBUUID(string: "FFE0")
    static let value = CBUUID(string: "FFE1")
    static let refused = CBUUID(string: "FFE2")
    static let silent = CBUUID(string: "FFE3")
    static let secret = CBUUID(string: "FFE4")
    static let included = CBUUID(string: "FFEA")
    static let later = CBUUID(string: "FFE9")
    static let refusal = 0x91

    struct State {
        var reads: UInt32 = 0
        var notifications: UInt32 = 0
        var isNotifying = false
        var written: [Data] = []
        var psm: CBL2CAPPSM?
        var channels: [CBL2CAPChannel] = []
        var subscribers = 0
    }

    let state = Mutex(State())
    private let queue = DispatchQueue(label: "station")
    private var manager: CBPeripheralManager!
    private let characteristic = CBMutableCharacteristic(
        type: Station.value,
        properties: [.read, .write, .writeWithoutResponse, .notify],
        value: nil,
        permissions: [.readable, .writeable]
    )
    let advertises: Bool

    init(_ app: SimulatedApp, advertises: Bool = true) {
        self.advertises = advertises
        super.init()
        manager = CBPeripheralManager(delegate: self, queue: queue)
        app.everyInterval(.milliseconds(23), on: queue) { [weak self] in self?.notify() }
    }

    private func notify() {
        let number: UInt32? = state.withLock {
            guard $0.isNotifying else { return nil }
            $0.notifications += 1
            return $0.notifications
        }
        guard let number else { return }
        if !manager.updateValue(Self.octets("N", number), for: characteristic, onSubscribedCentrals: nil) {
            state.withLock { $0.notifications -= 1 }
        }
    }

    static func octets(_ letter: String, _ number: UInt32) -> Data { Data("\(letter)\(number)".utf8) }

    /// Adds a service that was not published before.
    func addService() {
        let service = CBMutableService(type: Self.later, primary: true)
        queue.async { [self] in manager.add(service) }
    }

    func removeServices() {
        queue.async { [self] in manager.removeAllServices() }
    }

    func advertise(_ isOn: Bool) {
        queue.async { [self] in
            guard isOn else { return manager.stopAdvertising() }
            manager.startAdvertising([
                CBAdvertisementDataServiceUUIDsKey: [Self.service], CBAdvertisementDataLocalNameKey: "Signpost",
            ])
        }
    }

    func peripheralManagerDidUpdateState(_ peripheral: CBPeripheralManager) {
        guard peripheral.state == .poweredOn else { return }
        let service = CBMutableService(type: Self.service, primary: true)
        let refused = CBMutableCharacteristic(Self.refused, .read)
        let silent = CBMutableCharacteristic(type: Self.silent, properties: .read, value: nil, permissions: .readable)
        characteristic.descriptors = [CBMutableDescriptor(type: CBUUID(string: "2901"), value: "what it is")]
        let secret = CBMutableCharacteristic(Self.secret, .read, isEncrypted: true)
        service.characteristics = [characteristic, refused, silent, secret]
        let included = CBMutableService(type: Self.included, primary: false)
        peripheral.add(included)
        service.includedServices = [included]
        peripheral.add(service)
        peripheral.publishL2CAPChannel(withEncryption: false)
        if advertises { advertise(true) }
    }

    func peripheralManager(_ peripheral: CBPeripheralManager, didReceiveRead request: CBATTRequest) {
        switch request.characteristic.uuid {
        case Self.refused:
            peripheral.respond(to: request, withResult: CBATTError.Code(rawValue: Self.refusal) ?? .unlikelyError)
        case Self.silent: break
        default:
            let number = state.withLock {
                $0.reads += 1
                return $0.reads
            }
            request.value = Self.octets("R", number)
            peripheral.respond(to: request, withResult: .success)
        }
    }

    func peripheralManager(_ peripheral: CBPeripheralManager, didReceiveWrite requests: [CBATTRequest]) {
        state.withLock { $0.written += requests.compactMap(\.value) }
        if let first = requests.first { peripheral.respond(to: first, withResult: .success) }
    }

    func peripheralManager(
        _ peripheral: CBPeripheralManager,
        central: CBCentral,
        didSubscribeTo characteristic: CBCharacteristic
    ) {
        state.withLock {
            $0.isNotifying = true
            $0.subscribers += 1
        }
    }

    func peripheralManager(
        _ peripheral: CBPeripheralManager,
        central: CBCentral,
        didUnsubscribeFrom characteristic: CBCharacteristic
    ) {
        state.withLock {
            $0.isNotifying = false
            $0.subscribers -= 1
        }
    }

    func peripheralManager(
        _ peripheral: CBPeripheralManager,
        didPublishL2CAPChannel PSM: CBL2CAPPSM,
        error: (any Error)?
    ) {
        state.withLock { $0.psm = PSM }
    }

    func peripheralManager(_ peripheral: CBPeripheralManager, didOpen channel: CBL2CAPChannel?, error: (any Error)?) {
        if let channel { state.withLock { $0.channels.append(channel) } }
    }
}
