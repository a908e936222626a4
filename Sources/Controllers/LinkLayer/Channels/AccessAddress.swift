import EventLoops

/// The access address of advertising, and the rules for that of a connection (Core Vol 6 Part B 2.1.2).
enum AccessAddress {
    /// The access address of all advertising channels.
    static let advertising: UInt32 = 0x8E89_BED6

    /// Returns a random access address that cannot be mistaken for noise or for advertising.
    static func random(_ random: RandomSource) -> UInt32 {
        while true {
            let candidate = UInt32(truncatingIfNeeded: random.next() >> 32)
            if isValid(candidate) { return candidate }
        }
    }

    /// Whether an access address follows all the rules.
    static func isValid(_ address: UInt32) -> Bool {
        let octets = (0..<4).map { UInt8(truncatingIfNeeded: address >> (8 * $0)) }
        let changes = (address ^ address >> 1) & 0x7FFF_FFFF
        return (address ^ advertising).nonzeroBitCount > 1
            && Set(octets).count > 1
            && longestRun(address) <= 6
            && changes.nonzeroBitCount <= 24
            && (changes >> 26).nonzeroBitCount >= 2
            // These two are required by receivers for the Coded PHY.
            && (address & 0xFF).nonzeroBitCount >= 3
            && (changes & 0x7FFF).nonzeroBitCount <= 11
    }

    private static func longestRun(_ address: UInt32) -> Int {
        var (longest, run) = (1, 1)
        for bit in 1..<32 {
            run = address >> bit & 1 == address >> (bit - 1) & 1 ? run + 1 : 1
            longest = max(longest, run)
        }
        return longest
    }
}
