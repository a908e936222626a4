import BluetoothTypes
import HCI
import Synchronization

/// The HCI packets of a device, as its capture has them.
final class OctetLog: Sendable {
    private let octets = Mutex<[UInt8]>([])

    func add(_ more: [UInt8]) { octets.withLock { $0 += more } }

    /// The commands so far, in the order of sending.
    var commands: [Opcode] {
        let octets = octets.withLock { $0 }
        var found: [Opcode] = []
        // A header of 16 octets, then records with 24 octets in front of each packet, which begins with its H4 type.
        var start = 16
        while start + 24 < octets.count {
            let length = octets[start..<start + 4].reduce(0) { $0 << 8 | Int($1) }
            let packet = octets[(start + 24)..<min(start + 24 + length, octets.count)]
            if packet.count >= 3, packet.first == HCIPacket.Kind.command.rawValue {
                let at = packet.startIndex
                found.append(Opcode(rawValue: UInt16(packet[at + 1]) | UInt16(packet[at + 2]) << 8))
            }
            start += 24 + length
        }
        return found
    }
}
