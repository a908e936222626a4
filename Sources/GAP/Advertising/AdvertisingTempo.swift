/// How often to advertise: fast at first, so that others find the device soon, and slow later.
public struct AdvertisingTempo: Hashable, Sendable {
    /// Which of the two phases it is.
    public enum Phase: Hashable, Sendable {
        case fast
        case slow
    }

    /// The interval of the fast phase, in units of 625 µs, 32 to 16,384.
    public var fast: ClosedRange<UInt16>
    /// The interval after it; nil for a fast phase without an end.
    public var slow: ClosedRange<UInt16>?
    /// How long the fast phase lasts.
    public var fastPhase: Duration

    /// Intervals in units of 625 µs.
    public init(
        fast: ClosedRange<UInt16>,
        slow: ClosedRange<UInt16>? = nil,
        fastPhase: Duration = GAPTimer.advertisingFastPeriod
    ) {
        self.fast = fast
        self.slow = slow
        self.fastPhase = fastPhase
    }

    /// What the specification proposes: 30 to 60 ms, and after 30 s 1 to 1.2 s (Core Vol 3 Part C Appendix A).
    public static let specification = AdvertisingTempo(fast: 48...96, slow: 1_600...1_920)

    /// What Apple asks of accessories so that its devices find them: 20 ms, and after 30 s 152.5 ms (behaviours 14.1, 14.2).
    public static let accessory = AdvertisingTempo(fast: 32...32, slow: 244...244)

    /// The interval of a phase.
    func interval(_ phase: Phase) -> ClosedRange<UInt16> {
        phase == .slow ? slow ?? fast : fast
    }
}
