#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#elseif canImport(Darwin)
    import Darwin
#endif

/// A position, in metres.
public struct Position: Hashable, Sendable {
    /// Metres to the east.
    public var x: Double
    /// Metres to the north.
    public var y: Double
    /// Metres upwards from the origin.
    public var z: Double

    /// Creates a position from coordinates in metres. The default is the origin.
    public init(x: Double = 0, y: Double = 0, z: Double = 0) {
        self.x = x
        self.y = y
        self.z = z
    }

    /// Returns the distance to another position, in metres.
    public func distance(to other: Position) -> Double {
        let (dx, dy, dz) = (x - other.x, y - other.y, z - other.z)
        return (dx * dx + dy * dy + dz * dz).squareRoot()
    }
}

/// The path loss model and the receiver's sensitivity.
public struct Propagation: Sendable {
    /// The path loss over the first metre, in dB. It is 40 in free space at 2.44 GHz.
    public var lossAtOneMetre = 40.0
    /// The path loss exponent: 2 in free space, 1.6 along a corridor, 3 and more through walls.
    public var exponent = 2.0
    /// The receiver sensitivity for LE 1M, in dBm. The defaults are those of the nRF52840 product specification. Core
    /// Vol 6 Part A 4.1 requires at least -70.
    public var sensitivity1M = -95.0
    /// The receiver sensitivity for LE 2M, in dBm; required: at least -70.
    public var sensitivity2M = -92.0
    /// The receiver sensitivity for LE Coded S=2, in dBm; required: at least -75.
    public var sensitivityCodedS2 = -99.0
    /// The receiver sensitivity for LE Coded S=8, in dBm; required: at least -82.
    public var sensitivityCodedS8 = -103.0
    /// How much stronger, in dB, a frame must be than everything else on its channel together to survive a collision.
    ///
    /// Core Vol 6 Part A 4.2 allows 21 at most; real chips do better. With infinity every collision destroys both
    /// frames.
    public var captureThreshold = 8.0
    /// The receiver's noise floor on a quiet channel, in dBm: thermal noise of -114 in 1 MHz and a noise figure of 8
    /// dB.
    ///
    /// The sensitivities already include it; ``Radio/Configuration/channelNoise`` adds to it.
    public var noiseFloor = -106.0

    /// Creates a model of free space and a common controller chip.
    public init() {}

    /// Returns the log-distance path loss in dB over a distance in metres. Distances below 1 cm count as 1 cm.
    public func loss(over distance: Double) -> Double {
        lossAtOneMetre + 10 * exponent * log10(max(distance, 0.01))
    }

    /// Returns the distance in metres over which the path loss is `loss`, in dB.
    func distance(with loss: Double) -> Double {
        pow(10, (loss - lossAtOneMetre) / (10 * exponent))
    }

    /// Returns the weakest signal, in dBm, that can be received on a PHY.
    public func sensitivity(_ phy: RadioPHY) -> Double {
        switch phy {
        case .le1M: sensitivity1M
        case .le2M: sensitivity2M
        case .codedS2: sensitivityCodedS2
        case .codedS8: sensitivityCodedS8
        }
    }
}

/// Converts dBm to milliwatts, which can be added.
func milliwatts(_ decibels: Double) -> Double { pow(10, decibels / 10) }

/// Converts milliwatts to dBm.
func decibels(_ milliwatts: Double) -> Double { 10 * log10(milliwatts) }

/// Returns a signal strength in dBm as controllers report it: -127 to 20 (Core Vol 4 Part E 7.7.65.2).
func reportedRSSI(_ strength: Double) -> Int8 {
    Int8(max(-127, min(20, strength.rounded())))
}

/// A straight obstacle of any height, which weakens the signals that pass through it.
public struct Wall: Hashable, Sendable {
    /// One end of the wall. The height does not matter.
    public var start: Position
    /// The end of the wall that is not its start.
    public var end: Position
    /// The attenuation of a signal that passes through, in dB.
    public var attenuation: Double

    /// Creates a wall, by default one of brick.
    ///
    /// - Parameters:
    ///   - start: One end of the wall.
    ///   - end: The other end.
    ///   - attenuation: The attenuation of a signal that passes through, in dB: some 3 for plasterboard, 10 for brick,
    ///     20 and more for concrete.
    public init(from start: Position, to end: Position, attenuation: Double = 10) {
        self.start = start
        self.end = end
        self.attenuation = attenuation
    }

    /// Whether the straight line between two positions meets the wall, as seen from above. A line along the wall does
    /// not.
    func stands(between one: Position, and other: Position) -> Bool {
        let (a, b) = (Self.side(of: one, start, end), Self.side(of: other, start, end))
        let (c, d) = (Self.side(of: start, one, other), Self.side(of: end, one, other))
        // With a coordinate that is not a number, no comparison is true.
        return a * b <= 0 && c * d <= 0 && (a != b || c != d)
    }

    /// The side of a line on which a position is, by the sign; 0 on the line itself.
    private static func side(of position: Position, _ start: Position, _ end: Position) -> Double {
        let cross = (end.x - start.x) * (position.y - start.y) - (end.y - start.y) * (position.x - start.x)
        return cross > 0 ? 1 : cross < 0 ? -1 : cross == 0 ? 0 : .nan
    }
}
