/// 16 octets, the most significant first: what the cipher takes and gives.
package struct Block128: Hashable, Sendable {
    /// The more significant half.
    package var high: UInt64
    /// The less significant half.
    package var low: UInt64

    /// From its two halves.
    package init(high: UInt64, low: UInt64) {
        self.high = high
        self.low = low
    }

    /// From 16 octets, the most significant first; nil for another number of octets.
    package init?(_ bytes: some Collection<UInt8>) {
        guard bytes.count == 16 else { return nil }
        self.init(padding: bytes)
    }

    /// From at most 16 octets, with zeroes behind them; what is beyond 16 is left out.
    init(padding bytes: some Collection<UInt8>) {
        self = .zero
        for (index, byte) in bytes.prefix(16).enumerated() { self[index] = byte }
    }

    /// All bits clear.
    package static let zero = Block128(high: 0, low: 0)

    /// The octet at `index`, 0 to 15 from the most significant.
    package subscript(index: Int) -> UInt8 {
        get { UInt8(truncatingIfNeeded: (index < 8 ? high : low) >> (56 - 8 * UInt64(index & 7))) }
        set {
            let shift = 56 - 8 * UInt64(index & 7)
            if index < 8 {
                high = high & ~(0xFF << shift) | UInt64(newValue) << shift
            } else {
                low = low & ~(0xFF << shift) | UInt64(newValue) << shift
            }
        }
    }

    /// The 16 octets, the most significant first.
    package var bytes: [UInt8] { (0..<16).map { self[$0] } }

    /// Bit by bit, either but not both.
    package static func ^ (a: Block128, b: Block128) -> Block128 {
        Block128(high: a.high ^ b.high, low: a.low ^ b.low)
    }
}
