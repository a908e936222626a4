import HCI
import Synchronization

/// The HCI packets of a device, from its capture.
final class OctetLog: Sendable {
    private let octets = Mutex<[UInt8]>([])

    func add(_ more: [UInt8]) { octets.withLock { $0 += more } }

    /// The commands so far, in the order of sending.
    var commands: [Opcode] {
        sent(.command).compactMap { packet in
            let at = packet.startIndex
            return packet.count >= 3 ? Opcode(rawValue: UInt16(packet[at + 1]) | UInt16(packet[at + 2]) << 8) : nil
        }
    }

    /// The packet boundary flag of each data packet that the host has sent (Core Vol 4 Part E 5.4.2).
    var boundaries: [UInt8] {
        sent(.acl).compactMap { packet in packet.count >= 3 ? packet[packet.startIndex + 2] >> 4 & 3 : nil }
    }

    /// The packets of one kind from the host, each with its H4 type in front.
    private func sent(_ kind: HCIPacket.Kind) -> [ArraySlice<UInt8>] {
        let octets = octets.withLock { $0 }
        var found: [ArraySlice<UInt8>] = []
        // A header of 16 octets, then records with 24 octets before each packet. The lowest bit of their flags, in
        // octets 8 to 11, marks packets from the controller.
        var start = 16
        while start + 24 < octets.count {
            let length = octets[start..<start + 4].reduce(0) { $0 << 8 | Int($1) }
            let packet = octets[(start + 24)..<min(start + 24 + length, octets.count)]
            if packet.first == kind.rawValue, octets[start + 11] & 1 == 0 { found.append(packet) }
            start += 24 + length
        }
        return found
    }

    /// How often a peripheral has sent a control PDU on an unencrypted link, by its opcode and its length with the
    /// opcode, from an air capture (pcapng with LINKTYPE_BLUETOOTH_LE_LL_WITH_PHDR).
    func controlPDUs(_ opcode: UInt8, length: UInt8) -> Int {
        let octets = octets.withLock { $0 }
        var count = 0
        // Blocks, each with its type and length in front. Those of packets (type 6) begin with 28 octets, 10 of the
        // pseudo-header, which ends with its flags, and 4 of the access address.
        var start = 0
        while start + 45 <= octets.count {
            let size = octets[(start + 4)..<(start + 8)].reversed().reduce(0) { $0 << 8 | Int($1) }
            let flags = UInt16(octets[start + 36]) | UInt16(octets[start + 37]) << 8
            let (header, second, first) = (octets[start + 42], octets[start + 43], octets[start + 44])
            // From a peripheral to its central; LLID 3 (Core Vol 6 Part B 2.4).
            let isControl = octets[start] == 6 && flags >> 7 & 7 == 3 && header & 3 == 3
            if isControl, second == length, first == opcode { count += 1 }
            start += size
        }
        return count
    }
}
