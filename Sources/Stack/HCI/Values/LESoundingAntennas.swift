/// The antennas between which tones are exchanged: Tone_Antenna_Config_Selection (Core Vol 4 Part E 7.8.139).
package struct LESoundingAntennas: RawRepresentable, Hashable, Sendable {
    private static let counts = [(1, 1), (2, 1), (3, 1), (4, 1), (1, 2), (1, 3), (1, 4), (2, 2)]

    /// The selection, 0 to 7.
    package let rawValue: UInt8

    /// One antenna at each end.
    package static let single = LESoundingAntennas(unchecked: 0)

    /// Creates a selection; nil if the number is reserved.
    package init?(rawValue: UInt8) {
        guard Int(rawValue) < Self.counts.count else { return nil }
        self.rawValue = rawValue
    }

    private init(unchecked rawValue: UInt8) { self.rawValue = rawValue }

    /// The numbers of antennas of the initiator and of the reflector.
    private var counts: (initiator: Int, reflector: Int) { Self.counts[Int(rawValue)] }

    /// The antennas of each path, from 0.
    package var paths: [(initiator: Int, reflector: Int)] {
        (0..<counts.reflector).flatMap { reflector in (0..<counts.initiator).map { ($0, reflector) } }
    }

    /// The antennas of the reflector, one bit each.
    package var reflectorMask: UInt8 { 1 << UInt8(counts.reflector) - 1 }

    /// Whether two devices have these antennas, and as many paths.
    package func suits(_ initiator: LESoundingCapabilities, _ reflector: LESoundingCapabilities) -> Bool {
        counts.initiator <= initiator.antennas && counts.reflector <= reflector.antennas
            && counts.initiator * counts.reflector <= min(initiator.antennaPaths, reflector.antennaPaths)
    }

    /// Returns the selection with the most paths that two devices have.
    package static func most(_ initiator: LESoundingCapabilities, _ reflector: LESoundingCapabilities) -> Self {
        (0..<UInt8(counts.count)).map(Self.init(unchecked:)).filter { $0.suits(initiator, reflector) }
            .max { $0.paths.count < $1.paths.count } ?? .single
    }
}
