/// The advertising intervals: a fast one at first, for quick discovery, and a slow one later.
package struct AdvertisingTempo: Hashable, Sendable {
    /// A phase of advertising.
    package enum Phase: Hashable, Sendable {
        case fast
        case slow
    }

    /// The interval of the fast phase, in units of 625 µs, 32 to 16,384.
    package var fast: ClosedRange<UInt16>
    /// The interval of the slow phase, in the same units; nil for a fast phase without an end.
    package var slow: ClosedRange<UInt16>?
    package var fastPhase: Duration

    package init(
        fast: ClosedRange<UInt16>,
        slow: ClosedRange<UInt16>? = nil,
        fastPhase: Duration = GAPTimer.advertisingFastPeriod
    ) {
        self.fast = fast
        self.slow = slow
        self.fastPhase = fastPhase
    }

    /// The values that the specification recommends: 30 to 60 ms, and 1 to 1.2 s after 30 s (Core Vol 3 Part C Appendix
    /// A).
    package static let specification = AdvertisingTempo(fast: 48...96, slow: 1_600...1_920)

    func interval(_ phase: Phase) -> ClosedRange<UInt16> {
        phase == .slow ? slow ?? fast : fast
    }
}
