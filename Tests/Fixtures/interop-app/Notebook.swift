import CoreBluetooth

/// A peripheral app with restoration: it responds to reads of one value with the number of its process, and counts
/// writes.
final class Notebook: NSObject, CBPeripheralManagerDelegate, @unchecked Sendable {
    // Safe: all mutable state is accessed only on the manager's queue.
    private let service: CBUUID
    private let characteristic: CBUUID
    private let say: (String) -> Void
    private var manager: CBPeripheralManager?
    private var isRestored = false

    init(service: CBUUID, characteristic: CBUUID, queue: DispatchQueue, say: @escaping (String) -> Void) {
        self.service = service
        self.characteristic = characteristic
        self.say = say
        super.init()
        manager = CBPeripheralManager(
            delegate: self,
            queue: queue,
            options: [CBPeripheralManagerOptionRestoreIdentifierKey: "notebook"]
        )
    }

    func peripheralManager(_ peripheral: CBPeripheralManager, willRestoreState dict: [String: Any]) {
        let services = dict[CBPeripheralManagerRestoredStateServicesKey] as? [CBMutableService] ?? []
        let advertising = dict[CBPeripheralManagerRestoredStateAdvertisementDataKey] != nil
        isRestored = !services.isEmpty
        say("restored \(services.count) services, advertising \(advertising)")
    }

    func peripheralManagerDidUpdateState(_ peripheral: CBPeripheralManager) {
        say("state \(peripheral.state.rawValue)")
        guard peripheral.state == .poweredOn, !isRestored else { return }
        isRestored = true
        let value = CBMutableCharacteristic(
            type: characteristic,
            properties: [.read, .write],
            value: nil,
            permissions: [.readable, .writeable]
        )
        let made = CBMutableService(type: service, primary: true)
        made.characteristics = [value]
        peripheral.add(made)
    }

    func peripheralManager(_ peripheral: CBPeripheralManager, didAdd service: CBService, error: (any Error)?) {
        peripheral.startAdvertising([
            CBAdvertisementDataServiceUUIDsKey: [self.service], CBAdvertisementDataLocalNameKey: "Notebook",
        ])
    }

    func peripheralManagerDidStartAdvertising(_ peripheral: CBPeripheralManager, error: (any Error)?) {
        say(error.map { "not advertising: \($0)" } ?? "advertising")
    }

    func peripheralManager(_ peripheral: CBPeripheralManager, didReceiveRead request: CBATTRequest) {
        request.value = Data("\(ProcessInfo.processInfo.processIdentifier)".utf8)
        say("read")
        peripheral.respond(to: request, withResult: .success)
    }

    func peripheralManager(_ peripheral: CBPeripheralManager, didReceiveWrite requests: [CBATTRequest]) {
        say("written")
        if let first = requests.first { peripheral.respond(to: first, withResult: .success) }
    }
}
