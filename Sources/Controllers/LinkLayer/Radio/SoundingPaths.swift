#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#elseif canImport(Darwin)
    import Darwin
#endif

/// The ways of a signal from one position to another, and what they do to its phase and its time.
///
/// The model: the direct way, with the path loss and the walls in between, and one reflection at each wall, by the law
/// of mirrors. A reflection loses ``reflectionLoss``, inverts the phase, and passes the other walls as the direct way
/// does. Reflections at two walls and at the floor, diffraction, polarization and the antennas' directions are left out.
struct SoundingPaths: Hashable {
    /// One way.
    struct Path: Hashable {
        /// The length in metres.
        var length: Double
        /// The gain in dB, negative.
        var gain: Double
        var isInverted = false
    }

    /// The speed of light, in metres per second.
    static let speedOfLight = 299_792_458.0
    /// The loss of a reflection, in dB: a quarter of the power returns.
    static let reflectionLoss = 6.0

    let paths: [Path]

    /// Returns the frequency of a channel, in Hz (Core Vol 6 Part A 2).
    static func frequency(of channel: UInt8) -> Double { 2.402e9 + 1e6 * Double(channel) }

    /// The gain of all ways together, in dB, as the power adds up.
    var gain: Double { decibels(paths.reduce(0) { $0 + milliwatts($1.gain) }) }

    /// The time of flight in seconds as a correlator sees it: the mean of the ways, weighted by power.
    var delay: Double {
        let weights = paths.map { milliwatts($0.gain) }
        let sum = zip(weights, paths).reduce(0) { $0 + $1.0 * $1.1.length }
        return sum / weights.reduce(0, +) / Self.speedOfLight
    }

    /// Returns the phase and the amplitude of a tone, relative to what was sent.
    func response(_ channel: UInt8) -> (i: Double, q: Double) {
        let frequency = Self.frequency(of: channel)
        return paths.reduce((0, 0)) { sum, path in
            let amplitude = pow(10, path.gain / 20) * (path.isInverted ? -1 : 1)
            let phase = -2 * Double.pi * frequency * path.length / Self.speedOfLight
            return (sum.0 + amplitude * cos(phase), sum.1 + amplitude * sin(phase))
        }
    }
}

extension Radio {
    /// Returns the ways of a signal between two positions.
    func soundingPaths(from sender: Position, to receiver: Position) -> SoundingPaths {
        let walls = configuration.walls
        let direct = SoundingPaths.Path(
            length: max(sender.distance(to: receiver), 0.01),
            gain: strength(power: 0, from: sender, to: receiver)
        )
        let reflected = walls.indices.compactMap { index -> SoundingPaths.Path? in
            guard let point = walls[index].mirrorPoint(from: sender, to: receiver) else { return nil }
            let length = sender.distance(to: point) + point.distance(to: receiver)
            var gain = -configuration.propagation.loss(over: length) - SoundingPaths.reflectionLoss
            for other in walls.indices where other != index {
                let wall = walls[other]
                if wall.stands(between: sender, and: point) { gain -= wall.attenuation }
                if wall.stands(between: point, and: receiver) { gain -= wall.attenuation }
            }
            return .init(length: length, gain: gain, isInverted: true)
        }
        return SoundingPaths(paths: [direct] + reflected)
    }
}

extension Wall {
    /// Returns the point at which the wall reflects a signal; nil if the two positions are on different sides of it, or
    /// the wall does not reach there.
    func mirrorPoint(from sender: Position, to receiver: Position) -> Position? {
        let (dx, dy) = (end.x - start.x, end.y - start.y)
        let length = (dx * dx + dy * dy).squareRoot()
        guard length > 0 else { return nil }
        /// The distance from the wall's line, with a sign for the side.
        func side(_ position: Position) -> Double {
            (dx * (position.y - start.y) - dy * (position.x - start.x)) / length
        }
        let (near, far) = (side(sender), side(receiver))
        guard near * far > 0 else { return nil }
        let share = near / (near + far)
        let point = Position(
            x: sender.x + (receiver.x - sender.x) * share + dy / length * near * 2 * (1 - share),
            y: sender.y + (receiver.y - sender.y) * share - dx / length * near * 2 * (1 - share),
            z: sender.z + (receiver.z - sender.z) * share
        )
        let place = ((point.x - start.x) * dx + (point.y - start.y) * dy) / length
        return (0...length).contains(place) ? point : nil
    }
}
