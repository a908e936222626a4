import CoreBluetooth
import Demos

/// A peripheral, written as for iOS, that echoes everything it receives on L2CAP channels.
///
/// Callbacks arrive on the queue given to the initializer. Each channel has a thread of its own.
final class ChannelEcho: NSObject, CBPeripheralManagerDelegate, @unchecked Sendable {
    // Safe: mutable state is only touched on the manager's queue, where its callbacks arrive.

    /// The service with the PSM characteristic.
    static let service = CBUUID(string: "4861726C-6420-4543-484F-000000000001")

    private let name: String
    private let isEncrypted: Bool
    private let say: @Sendable (String) -> Void
    private var manager: CBPeripheralManager!

    /// - Parameter isEncrypted: Whether the PSM characteristic and the channel require an encrypted link.
    init(name: String, isEncrypted: Bool, queue: DispatchQueue, say: @escaping @Sendable (String) -> Void) {
        self.name = name
        self.isEncrypted = isEncrypted
        self.say = say
        super.init()
        manager = CBPeripheralManager(delegate: self, queue: queue)
    }

    func peripheralManagerDidUpdateState(_ peripheral: CBPeripheralManager) {
        guard peripheral.state == .poweredOn else { return say("Bluetooth is \(stateName(peripheral.state))") }
        peripheral.publishL2CAPChannel(withEncryption: isEncrypted)
    }

    func peripheralManager(
        _ peripheral: CBPeripheralManager,
        didPublishL2CAPChannel PSM: CBL2CAPPSM,
        error: (any Error)?
    ) {
        if let error { return say("cannot publish a channel: \(error.localizedDescription)") }
        let service = CBMutableService(type: Self.service, primary: true)
        service.characteristics = [
            CBMutableCharacteristic(
                type: CBUUID(string: CBUUIDL2CAPPSMCharacteristicString),
                properties: .read,
                value: Data([UInt8(truncatingIfNeeded: PSM), UInt8(truncatingIfNeeded: PSM >> 8)]),
                permissions: isEncrypted ? .readEncryptionRequired : .readable
            )
        ]
        peripheral.add(service)
        say("accepting channels on PSM \(PSM)")
        // Advertising the service as well would truncate the name.
        peripheral.startAdvertising([CBAdvertisementDataLocalNameKey: name])
    }

    func peripheralManagerDidStartAdvertising(_ peripheral: CBPeripheralManager, error: (any Error)?) {
        say(error.map { "cannot advertise: \($0.localizedDescription)" } ?? "advertising as \"\(name)\"")
    }

    func peripheralManager(_ peripheral: CBPeripheralManager, didOpen channel: CBL2CAPChannel?, error: (any Error)?) {
        guard let channel else { return }
        say("a channel is open")
        let say = say
        // Only touched on the channel's thread.
        var echoed = 0
        ChannelRunner(channel) { octets in
            echoed += octets.count
            return octets
        } onEnd: { error in
            say(
                "a channel was closed\(error.map { ": \($0.localizedDescription)" } ?? "") after \(count(echoed, "octet"))"
            )
        }.start()
    }
}
