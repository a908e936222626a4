/// A 128-bit cipher block. Octet 0 is the most significant.
package struct Block128: Hashable, Sendable {
    /// The length of a block, in octets.
    static let length = 16

    /// The most significant 64 bits.
    package var high: UInt64
    /// The least significant 64 bits.
    package var low: UInt64

    package init(high: UInt64, low: UInt64) {
        self.high = high
        self.low = low
    }

    /// Creates a block from 16 octets, most significant first. Returns nil for any other length.
    package init?(_ bytes: some Collection<UInt8>) {
        guard bytes.count == 16 else { return nil }
        self.init(padding: bytes)
    }

    /// Creates a block from up to 16 octets, padded with zeroes at the end. Octets after the 16th are ignored.
    init(padding bytes: some Collection<UInt8>) {
        self = .zero
        for (index, byte) in bytes.prefix(16).enumerated() { self[index] = byte }
    }

    package static let zero = Block128(high: 0, low: 0)

    /// The octet at `index`, from 0 (most significant) to 15.
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

    /// The 16 octets, most significant first.
    package var bytes: [UInt8] { (0..<16).map { self[$0] } }

    /// Appends the 16 octets, most significant first.
    func append(to octets: inout [UInt8]) {
        for index in 0..<Self.length { octets.append(self[index]) }
    }

    /// Returns the bitwise exclusive OR of two blocks.
    package static func ^ (a: Block128, b: Block128) -> Block128 {
        Block128(high: a.high ^ b.high, low: a.low ^ b.low)
    }
}
