/// The random source of a Bluetooth system: seeded in virtual time, the operating system's generator otherwise.
///
/// All objects of a system share one source, on the system's loop.
public final class RandomSource: RandomNumberGenerator {
    private enum Generator {
        case system(SystemRandomNumberGenerator)
        case seeded(Xoshiro256)
    }

    private var generator: Generator

    /// Creates a source of the operating system's cryptographically secure random numbers.
    public init() {
        generator = .system(SystemRandomNumberGenerator())
    }

    /// Creates a reproducible source for simulations.
    ///
    /// Its numbers depend on `seed` alone and are not secret.
    public init(seed: UInt64) {
        generator = .seeded(Xoshiro256(seed: seed))
    }

    /// Returns the next 64 random bits.
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

    /// Derives another source from this one.
    ///
    /// Draws from the derived source do not affect this one, so that the draws for one device do not shift those for
    /// another. Deriving draws one number from a seeded source. A source of the operating system's numbers returns
    /// another such source.
    ///
    /// - Parameter label: Distinguishes sources that are derived from the same state.
    public func split(_ label: UInt64) -> RandomSource {
        switch generator {
        case .system: RandomSource()
        case .seeded: RandomSource(seed: next() ^ (label &* 0x9E37_79B9_7F4A_7C15))
        }
    }

    /// Returns `count` random bytes.
    public func bytes(_ count: Int) -> [UInt8] {
        (0..<count).map { _ in UInt8(truncatingIfNeeded: next() >> 32) }
    }

    /// Returns a number in `0..<bound`, or 0 if `bound` is 0.
    public func below(_ bound: UInt64) -> UInt64 {
        bound == 0 ? 0 : next() % bound
    }

    /// Returns a number in `0..<1`.
    public func unit() -> Double {
        Double(next() >> 11) * 0x1p-53
    }
}

/// The xoshiro256** generator of Blackman and Vigna, seeded with SplitMix64.
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
