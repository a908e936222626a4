import BluetoothTypes

/// An input of libFuzzer, and a cursor over it for targets that take it as a list of steps. At its end it gives zeros.
struct FuzzInput {
    /// All octets.
    let octets: [UInt8]
    private var position = 0

    init(_ octets: [UInt8]) {
        self.octets = octets
    }

    /// Whether nothing is left.
    var isAtEnd: Bool { position >= octets.count }

    /// The next octet.
    mutating func octet() -> UInt8 {
        guard position < octets.count else { return 0 }
        defer { position += 1 }
        return octets[position]
    }

    /// The next two octets, least significant first.
    mutating func word() -> UInt16 {
        UInt16(octet()) | UInt16(octet()) << 8
    }

    /// The next `count` octets, or what there is.
    mutating func octets(_ count: Int) -> [UInt8] {
        let end = min(position + count, octets.count)
        defer { position = end }
        return Array(octets[position..<end])
    }

    /// Octets with their number in front.
    mutating func counted() -> [UInt8] {
        octets(Int(octet()))
    }

    /// All octets that are left.
    mutating func rest() -> [UInt8] {
        octets(octets.count)
    }

    /// All octets as a packet.
    var whole: PacketBuffer { PacketBuffer(octets) }

    /// The same octets in the middle of others. A decoder that reads beyond its slice finds something else there.
    var embedded: PacketBuffer {
        let border = [UInt8](repeating: 0xA5, count: 24)
        return PacketBuffer(border + octets + border).slice(24..<(24 + octets.count))
    }
}

/// A step of a target that takes steps: what to do, and octets for it.
func step(_ kind: UInt8, _ octets: some Collection<UInt8>) -> [UInt8] {
    [kind] + counted(octets)
}

/// Octets with their number in front, as ``FuzzInput/counted()`` takes them.
func counted(_ octets: some Collection<UInt8>) -> [UInt8] {
    [UInt8(truncatingIfNeeded: min(octets.count, 255))] + octets.prefix(255)
}
