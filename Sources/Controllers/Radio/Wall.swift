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
