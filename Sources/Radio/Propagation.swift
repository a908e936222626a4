#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#elseif canImport(Darwin)
    import Darwin
#endif

/// A place, in metres.
public struct Position: Hashable, Sendable {
    /// East.
    public var x: Double
    /// North.
    public var y: Double
    /// Up.
    public var z: Double

    /// A place, in metres.
    public init(x: Double = 0, y: Double = 0, z: Double = 0) {
        self.x = x
        self.y = y
        self.z = z
    }

    /// Metres between two places.
    public func distance(to other: Position) -> Double {
        let (dx, dy, dz) = (x - other.x, y - other.y, z - other.z)
        return (dx * dx + dy * dy + dz * dz).squareRoot()
    }
}

/// How a signal gets weaker with the distance, and how weak it may be to be heard.
public struct Propagation: Sendable {
    /// Loss over the first metre, in dB. In free space at 2.44 GHz it is 40.
    public var lossAtOneMetre = 40.0
    /// How fast it falls: 2 in free space, 1.6 along a corridor, 3 and more through walls.
    public var exponent = 2.0
    /// What a receiver needs, in dBm: what the nRF52840's product specification gives for it. Core Vol 6 Part A 4.1 asks
    /// for -70 at least.
    public var sensitivity1M = -95.0
    /// The same for 2 Mbit/s; -70 at least.
    public var sensitivity2M = -92.0
    /// The same for S=2; -75 at least.
    public var sensitivityCodedS2 = -99.0
    /// The same for S=8; -82 at least.
    public var sensitivityCodedS8 = -103.0
    /// By how many dB a frame has to be stronger than all others on its channel together to survive them. Core Vol 6
    /// Part A 4.2 asks for 21 at most; chips are better. With infinity every collision is the end of both frames.
    public var captureThreshold = 8.0
    /// What a receiver hears on a quiet channel, in dBm: thermal noise of -114 in 1 MHz and a noise figure of 8 dB. The
    /// sensitivities go with it; ``Radio/Configuration/channelNoise`` comes on top.
    public var noiseFloor = -106.0

    /// Free space and a common controller chip.
    public init() {}

    /// The loss in dB over a distance in metres: log-distance path loss. Nearer than 1 cm counts as 1 cm.
    public func loss(over distance: Double) -> Double {
        lossAtOneMetre + 10 * exponent * log10(max(distance, 0.01))
    }

    /// The weakest signal, in dBm, that a receiver makes a frame of.
    public func sensitivity(_ phy: RadioPHY) -> Double {
        switch phy {
        case .le1M: sensitivity1M
        case .le2M: sensitivity2M
        case .codedS2: sensitivityCodedS2
        case .codedS8: sensitivityCodedS8
        }
    }
}

/// dBm as a power that can be added.
func milliwatts(_ decibels: Double) -> Double { pow(10, decibels / 10) }

/// A power in dBm.
func decibels(_ milliwatts: Double) -> Double { 10 * log10(milliwatts) }

/// A strength in dBm as controllers report it: -127 to 20 (Core Vol 4 Part E 7.7.65.2).
func reportedRSSI(_ strength: Double) -> Int8 {
    Int8(max(-127, min(20, strength.rounded())))
}
