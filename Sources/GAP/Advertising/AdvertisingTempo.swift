/// How often to advertise: fast at first, so that others find the device soon, and slow later.
package struct AdvertisingTempo: Hashable, Sendable {
    /// Which of the two phases it is.
    package enum Phase: Hashable, Sendable {
        /// The first one.
        case fast
        /// The one after it.
        case slow
    }

    /// The interval of the fast phase, in units of 625 µs, 32 to 16,384.
    package var fast: ClosedRange<UInt16>
    /// The interval after it; nil for a fast phase without an end.
    package var slow: ClosedRange<UInt16>?
    /// How long the fast phase lasts.
    package var fastPhase: Duration

    /// Intervals in units of 625 µs.
    package init(
        fast: ClosedRange<UInt16>,
        slow: ClosedRange<UInt16>? = nil,
        fastPhase: Duration = GAPTimer.advertisingFastPeriod
    ) {
        self.fast = fast
        self.slow = slow
        self.fastPhase = fastPhase
    }

    /// What the specification proposes: 30 to 60 ms, and after 30 s 1 to 1.2 s (Core Vol 3 Part C Appendix A).
    package static let specification = AdvertisingTempo(fast: 48...96, slow: 1_600...1_920)

    /// The interval of a phase.
    func interval(_ phase: Phase) -> ClosedRange<UInt16> {
        phase == .slow ? slow ?? fast : fast
    }
}
