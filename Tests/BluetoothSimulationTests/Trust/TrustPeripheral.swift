import AppStandIns
import CoreBluetooth
import Foundation
import Synchronization

/// The identifiers that the apps of these tests share.
enum Trust {
    static let service = CBUUID(string: "7472757E-0000-4861-7261-6C6420303031")
    /// Readable by any peer, without trust.
    static let open = CBUUID(string: "7472757E-0001-4861-7261-6C6420303031")
    /// The contract of behaviour 6.16: reads, and notifications for trusted peers.
    static let email = CBUUID(string: "7472757E-0002-4861-7261-6C6420303031")
    /// Trusted peers may write it, and subscribe to indications.
    static let secret = CBUUID(string: "7472757E-0003-4861-7261-6C6420303031")
    /// Reads and notifications are open; trusted peers may write, with and without response, and signed.
    static let mixed = CBUUID(string: "7472757E-0004-4861-7261-6C6420303031")
    /// Readable without trust, with a descriptor that requires trust. Apps on Apple's systems cannot publish one, but
    /// other peers do.
    static let described = CBUUID(string: "7472757E-0005-4861-7261-6C6420303031")
}

/// An app in the peripheral role that publishes one characteristic of each kind, and records all its requests.
final class TrustPeripheral: PeripheralStandIn, @unchecked Sendable {
    // Safe: mutable state is in mutexes.

    /// The requests received, in order.
    let asked = Mutex<[String]>([])
    /// The identifiers of the requesting centrals.
    let centrals = Mutex<[UUID]>([])
    private let queue = DispatchQueue(label: "peripheral")
    private let email = CBMutableCharacteristic(
        Trust.email,
        [.read, .notifyEncryptionRequired],
        isEncrypted: true
    )

    init() {
        let others = [
            CBMutableCharacteristic(Trust.secret, [.write, .indicateEncryptionRequired], isEncrypted: true),
            CBMutableCharacteristic(
                type: Trust.mixed,
                properties: [.read, .write, .writeWithoutResponse, .authenticatedSignedWrites, .notify],
                value: nil,
                permissions: [.readable, .writeEncryptionRequired]
            ),
        ]
        super.init(service: Trust.service, [CBMutableCharacteristic(Trust.open, .read), email] + others, on: queue)
    }

    var log: [String] { asked.withLock { $0 } }

    func forget() {
        asked.withLock { $0 = [] }
        centrals.withLock { $0 = [] }
    }

    /// Sends a new value of the e-mail address to subscribers.
    func notify(_ value: Data) {
        queue.sync { send(Array(value), of: email) }
    }

    private func note(_ what: String, _ central: CBCentral) {
        asked.withLock { $0.append(what) }
        centrals.withLock { $0.append(central.identifier) }
    }

    override func peripheralManager(_ peripheral: CBPeripheralManager, didReceiveRead request: CBATTRequest) {
        note("read", request.central)
        request.value = Data("me@example.org".utf8).dropFirst(request.offset)
        peripheral.respond(to: request, withResult: .success)
    }

    override func peripheralManager(_ peripheral: CBPeripheralManager, didReceiveWrite requests: [CBATTRequest]) {
        guard let first = requests.first else { return }
        note("write", first.central)
        peripheral.respond(to: first, withResult: .success)
    }

    override func peripheralManager(
        _ peripheral: CBPeripheralManager,
        central: CBCentral,
        didSubscribeTo characteristic: CBCharacteristic
    ) {
        note("subscribed", central)
    }

    override func peripheralManager(
        _ peripheral: CBPeripheralManager,
        central: CBCentral,
        didUnsubscribeFrom characteristic: CBCharacteristic
    ) {
        note("unsubscribed", central)
    }
}
