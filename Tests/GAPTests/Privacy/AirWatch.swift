import BluetoothTypes
import EventLoops

@testable import LinkLayer

/// Captures everything on the air during a test, with the address that each node showed and when.
final class AirWatch {
    /// One packet on an advertising channel.
    struct Seen {
        enum Role: Hashable {
            case advertising
            case scanning
            case initiating
        }

        let time: Instant
        let sender: RadioNode.ID
        let role: Role
        /// The sender's own address; nil where the packet carries none.
        let own: BluetoothAddress?
        /// The address of the intended receiver, if the packet carries one.
        let target: BluetoothAddress?
    }

    private(set) var seen: [Seen] = []
    private var frames: [(sender: RadioNode.ID, octets: [UInt8])] = []
    private let sniffer: RadioSniffer

    init(_ radio: Radio) {
        sniffer = radio.addSniffer()
        sniffer.onFrame = { [unowned self] in note($0) }
    }

    func of(_ node: RadioNode, _ role: Seen.Role? = nil, since: Instant = .zero) -> [Seen] {
        seen.filter { $0.sender == node.id && (role == nil || $0.role == role) && $0.time >= since }
    }

    /// The addresses that a node has shown, in the order of their first packets, with the times of the first and the
    /// last packet.
    func addresses(
        of node: RadioNode,
        _ role: Seen.Role? = nil
    ) -> [(address: BluetoothAddress, first: Instant, last: Instant)] {
        var result: [(address: BluetoothAddress, first: Instant, last: Instant)] = []
        for packet in of(node, role) {
            guard let own = packet.own else { continue }
            if let index = result.firstIndex(where: { $0.address == own }) {
                result[index].last = packet.time
            } else {
                result.append((own, packet.time, packet.time))
            }
        }
        return result
    }

    /// Whether a node has sent an address anywhere in any packet, including those of links.
    func hasSent(_ address: BluetoothAddress, _ node: RadioNode) -> Bool {
        let octets = address.littleEndianBytes
        return frames.contains { frame in
            guard frame.sender == node.id, frame.octets.count >= octets.count else { return false }
            return (0...(frame.octets.count - octets.count)).contains { start in
                frame.octets[start] == octets[0] && Array(frame.octets[start..<(start + octets.count)]) == octets
            }
        }
    }

    private func note(_ sniffed: SniffedFrame) {
        frames.append((sniffed.sender, sniffed.frame.pdu))
        guard sniffed.frame.accessAddress == AccessAddress.advertising,
            let pdu = try? AdvertisingPDU(reading: PacketBuffer(sniffed.frame.pdu))
        else { return }
        let (role, own, target) = Self.addresses(in: pdu)
        seen.append(Seen(time: sniffed.start, sender: sniffed.sender, role: role, own: own, target: target))
    }

    private static func addresses(
        in pdu: AdvertisingPDU
    ) -> (Seen.Role, own: BluetoothAddress?, target: BluetoothAddress?) {
        switch pdu {
        case .connectableScannable(let packet), .nonConnectable(let packet), .scannable(let packet),
            .scanResponse(let packet):
            (.advertising, packet.advertiser, nil)
        case .directed(let packet): (.advertising, packet.advertiser, packet.target)
        case .extended(let packet), .connectResponse(let packet):
            (.advertising, packet.extended.advertiser, packet.extended.target)
        case .scanRequest(let packet): (.scanning, packet.scanner, packet.advertiser)
        case .connect(let packet): (.initiating, packet.initiator, packet.advertiser)
        }
    }
}
