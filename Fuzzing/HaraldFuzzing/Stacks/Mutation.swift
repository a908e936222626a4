import BluetoothTypes
import HCI
import LinkLayer

/// Changes to some packets of a session, as the input dictates: after a number of packets at a place, the next one is
/// changed.
final class Mutation {
    private struct Change {
        var operation: UInt8
        var position: Int
        var octets: [UInt8]
    }

    /// The index of the air, after the places in the transports.
    private static let air = StackWorld.Place.allCases.count

    // The pending changes for each place, with the number of packets to skip before each.
    private var plans: [[(skip: Int, change: Change)]]

    /// Reads changes until the end of the input.
    init(_ input: inout FuzzInput) {
        plans = Array(repeating: [], count: Self.air + 1)
        while !input.isAtEnd {
            let place = Int(input.octet()) % plans.count
            let skip = Int(input.octet())
            let operation = input.octet()
            let position = Int(input.octet())
            plans[place].append((skip, Change(operation: operation, position: position, octets: input.counted())))
        }
        plans = plans.map { $0.reversed() }
    }

    /// The packets that replace a packet in a transport.
    func packets(for packet: HCIPacket, at place: StackWorld.Place) -> [HCIPacket] {
        guard let change = next(at: place.rawValue) else { return [packet] }
        switch change.operation & 0b111 {
        case 6: return []
        case 7: return change.position & 1 == 0 ? [packet, packet] : [packet, injected(change, at: place)]
        default: return [HCIPacket(packet.kind, PacketBuffer(changed(packet.bytes.bytes, change)))]
        }
    }

    /// A packet that does not occur in a normal session.
    private func injected(_ change: Change, at place: StackWorld.Place) -> HCIPacket {
        let isFromHost = place == .hostOfCentral || place == .hostOfPeripheral
        let kind: HCIPacket.Kind = change.position & 2 == 0 ? .acl : isFromHost ? .command : .event
        return HCIPacket(kind, PacketBuffer(change.octets))
    }

    /// Changes a frame if a change is due.
    func change(_ frame: inout RadioFrame) {
        guard let change = next(at: Self.air) else { return }
        switch change.operation & 0b111 {
        // Lost: it is sent with an access address that no device receives.
        case 6: frame.accessAddress ^= 0x5555_5555
        case 7: frame.crcInit ^= 1
        default: frame.pdu = Array(changed(frame.pdu, change).prefix(257))
        }
    }

    private func next(at place: Int) -> Change? {
        guard let last = plans[place].last else { return nil }
        if last.skip > 0 {
            plans[place][plans[place].count - 1].skip -= 1
            return nil
        }
        return plans[place].removeLast().change
    }

    private func changed(_ octets: [UInt8], _ change: Change) -> [UInt8] {
        var octets = octets
        let position = octets.isEmpty ? 0 : change.position % octets.count
        switch change.operation & 0b111 {
        case 0:
            for (index, octet) in change.octets.enumerated() where position + index < octets.count {
                octets[position + index] ^= octet
            }
        case 1:
            for (index, octet) in change.octets.enumerated() where position + index < octets.count {
                octets[position + index] = octet
            }
        case 2: octets = Array(octets.prefix(position))
        case 3: octets += change.octets
        case 4: octets.insert(contentsOf: change.octets, at: position)
        default: octets = change.octets
        }
        return octets
    }
}
