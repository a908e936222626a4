import BluetoothTypes

/// An input of libFuzzer, with a cursor for targets that read it as a list of steps. Past its end it yields zeros.
struct FuzzInput {
    /// All octets of the input.
    let octets: [UInt8]
    private var position = 0

    init(_ octets: [UInt8]) {
        self.octets = octets
    }

    /// Whether the cursor is at the end.
    var isAtEnd: Bool { position >= octets.count }

    /// The next octet; 0 at the end.
    mutating func octet() -> UInt8 {
        guard position < octets.count else { return 0 }
        defer { position += 1 }
        return octets[position]
    }

    /// The next two octets in little-endian order.
    mutating func word() -> UInt16 {
        UInt16(octet()) | UInt16(octet()) << 8
    }

    /// The next `count` octets, or as many as are left.
    mutating func octets(_ count: Int) -> [UInt8] {
        let end = min(position + count, octets.count)
        defer { position = end }
        return Array(octets[position..<end])
    }

    /// Octets preceded by their count.
    mutating func counted() -> [UInt8] {
        octets(Int(octet()))
    }

    /// All octets that are left.
    mutating func rest() -> [UInt8] {
        octets(octets.count)
    }

    /// All octets as a packet.
    var whole: PacketBuffer { PacketBuffer(octets) }

    /// The same octets in the middle of others, so that a decoder that reads beyond its slice gets a different result.
    var embedded: PacketBuffer {
        let border = [UInt8](repeating: 0xA5, count: 24)
        return PacketBuffer(border + octets + border).slice(24..<(24 + octets.count))
    }
}

/// A step of a target that reads steps: a kind, and octets for it.
func step(_ kind: UInt8, _ octets: some Collection<UInt8>) -> [UInt8] {
    [kind] + counted(octets)
}

/// Octets preceded by their count, as ``FuzzInput/counted()`` reads them.
func counted(_ octets: some Collection<UInt8>) -> [UInt8] {
    [UInt8(truncatingIfNeeded: min(octets.count, 255))] + octets.prefix(255)
}
