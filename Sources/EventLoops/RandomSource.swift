/// Where a Bluetooth system takes its random numbers from: seeded in virtual time, the operating system's otherwise.
///
/// Objects of one system share one source, on its loop.
public final class RandomSource: RandomNumberGenerator {
    private enum Generator {
        case system(SystemRandomNumberGenerator)
        case seeded(Xoshiro256)
    }

    private var generator: Generator

    /// The operating system's cryptographically secure numbers.
    public init() {
        generator = .system(SystemRandomNumberGenerator())
    }

    /// Numbers that follow from `seed` alone. For simulations: they are not secret.
    public init(seed: UInt64) {
        generator = .seeded(Xoshiro256(seed: seed))
    }

    /// The next 64 random bits.
    public func next() -> UInt64 {
        switch generator {
        case .system(var system):
            return system.next()
        case .seeded(var seeded):
            let value = seeded.next()
            generator = .seeded(seeded)
            return value
        }
    }

    /// A source that follows from this one and from `label`, so that one device's draws do not shift another's.
    public func split(_ label: UInt64) -> RandomSource {
        switch generator {
        case .system: RandomSource()
        case .seeded: RandomSource(seed: next() ^ (label &* 0x9E37_79B9_7F4A_7C15))
        }
    }

    /// `count` random octets.
    public func bytes(_ count: Int) -> [UInt8] {
        (0..<count).map { _ in UInt8(truncatingIfNeeded: next() >> 32) }
    }

    /// A number in `0..<bound`; 0 for a bound of 0.
    public func below(_ bound: UInt64) -> UInt64 {
        bound == 0 ? 0 : next() % bound
    }

    /// A number in `0..<1`.
    public func unit() -> Double {
        Double(next() >> 11) * 0x1p-53
    }
}

/// The generator xoshiro256** of Blackman and Vigna, seeded by SplitMix64.
struct Xoshiro256 {
    private var s: (UInt64, UInt64, UInt64, UInt64)

    init(seed: UInt64) {
        var state = seed
        func mix() -> UInt64 {
            state &+= 0x9E37_79B9_7F4A_7C15
            var z = state
            z = (z ^ (z >> 30)) &* 0xBF58_476D_1CE4_E5B9
            z = (z ^ (z >> 27)) &* 0x94D0_49BB_1331_11EB
            return z ^ (z >> 31)
        }
        s = (mix(), mix(), mix(), mix())
    }

    mutating func next() -> UInt64 {
        let result = rotate(s.1 &* 5, 7) &* 9
        let t = s.1 << 17
        s.2 ^= s.0
        s.3 ^= s.1
        s.1 ^= s.2
        s.0 ^= s.3
        s.2 ^= t
        s.3 = rotate(s.3, 45)
        return result
    }

    private func rotate(_ value: UInt64, _ count: UInt64) -> UInt64 {
        value << count | value >> (64 - count)
    }
}
