import BluetoothTypes
import Cryptography
import EventLoops
import HCI
import Testing

@testable import LinkLayer

extension Key128 {
    /// A key for tests.
    static let sample = Key128((1...16).map { UInt8($0) }) ?? .zero
    /// Another key for tests.
    static let other = Key128((101...116).map { UInt8($0) }) ?? .zero
}

extension TestHost {
    /// Encrypts a link, or changes its key.
    @discardableResult
    func encrypt(
        _ handle: ConnectionHandle,
        _ key: Key128 = .sample,
        random: UInt64 = 0,
        diversifier: UInt16 = 0
    ) -> HCIStatus {
        send(
            LEEnableEncryption(
                handle: handle,
                random: random,
                encryptedDiversifier: diversifier,
                longTermKey: PacketBuffer(key.littleEndianBytes)
            )
        )
    }

    /// The encryption events so far as text: statuses, with key refreshes marked.
    var encryptions: [String] {
        packets.compactMap { entry in
            guard entry.packet.kind == .event, let event = try? EventPacket(reading: entry.packet.bytes) else {
                return nil
            }
            switch event.code {
            case EncryptionChange.eventCode:
                return (try? EncryptionChange.reading(event.eventParameters)).map { "v1 \($0.state) \($0.status)" }
            case EncryptionChangeV2.eventCode:
                return (try? EncryptionChangeV2.reading(event.eventParameters)).map {
                    $0.v1.status == .success ? "\($0.v1.state), \($0.keySize)" : "\($0.v1.status)"
                }
            case EncryptionKeyRefreshComplete.eventCode:
                return (try? EncryptionKeyRefreshComplete.reading(event.eventParameters)).map { "refresh \($0.status)" }
            default: return nil
            }
        }
    }

    /// The reasons for which links ended.
    var endings: [HCIStatus] { events(DisconnectionComplete.self).map(\.reason) }
}

extension Pair {
    /// Connects two existing hosts.
    init(
        _ world: LinkLayerWorld,
        central: TestHost,
        peripheral: TestHost,
        handles: (central: ConnectionHandle, peripheral: ConnectionHandle)
    ) {
        (self.world, self.central, self.peripheral) = (world, central, peripheral)
        (centralHandle, peripheralHandle) = handles
    }

    /// Encrypts the link and waits until it is encrypted.
    func encrypt(_ key: Key128 = .sample) {
        peripheral.longTermKey = key
        #expect(central.encrypt(centralHandle, key) == .success)
        world.run(.seconds(1))
        #expect(isEncrypted)
    }

    /// Whether both ends send and receive encrypted PDUs only.
    var isEncrypted: Bool {
        [centralLink, peripheralLink].allSatisfy { link in
            guard let link else { return false }
            return link.control.encryption.state == .encrypted && link.ciphers.transmit != nil
                && link.ciphers.receive != nil && !link.queue.isHeld
        }
    }

    /// Whether both ends are unencrypted and alive.
    var isPlain: Bool {
        [centralLink, peripheralLink].allSatisfy { link in
            guard let link else { return false }
            return link.control.encryption.state == .plain && link.ciphers.transmit == nil
                && link.ciphers.receive == nil
                && !link.queue.isHeld
        }
    }
}

/// The data PDUs that went over the air, without retransmissions.
final class Overheard {
    private(set) var frames: [(fromCentral: Bool, header: DataHeader, payload: PacketBuffer)] = []
    private(set) var count = 0

    init(_ world: LinkLayerWorld, central: TestHost) {
        world.sniff { [weak self] sniffed in
            guard sniffed.frame.accessAddress != AccessAddress.advertising, let self else { return }
            let pdu = PacketBuffer(sniffed.frame.pdu)
            guard let header = try? DataHeader(reading: pdu.prefix(upTo: DataHeader.size)) else { return }
            count += 1
            let fromCentral = sniffed.sender == central.controller.node.id
            let last = frames.last { $0.fromCentral == fromCentral }
            let payload = pdu.suffix(after: DataHeader.size)
            if let last, last.header.sequence == header.sequence, last.payload == payload { return }
            frames.append((fromCentral, header, payload))
        }
    }

    /// The payloads that are not empty.
    var payloads: [PacketBuffer] { frames.map(\.payload).filter { !$0.isEmpty } }
    /// The control PDUs that decode in the clear.
    var control: [ControlPDU] {
        frames.compactMap { $0.header.content == .control ? try? ControlPDU(reading: $0.payload) : nil }
    }
}
