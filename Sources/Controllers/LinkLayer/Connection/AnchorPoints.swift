import EventLoops

/// The anchor points of a link (Core Vol 6 Part B 4.5.1): the number and the expected start of the event being prepared
/// or in progress, by this device's clock, and how far a peripheral may be off.
struct AnchorPoints {
    private let isCentral: Bool
    private let ownAccuracy: ClockAccuracy
    /// How much this device's sleep clock runs slow, in parts per million.
    private let drift: Double
    /// The accuracy of the peer's sleep clock, as last reported.
    private(set) var peerAccuracy: ClockAccuracy
    /// When the central was last received at an anchor point.
    private var lastSync: Instant
    /// The event counter on the air, which wraps.
    private(set) var counter: UInt16 = 0
    /// The number of the event, without wrapping.
    private(set) var event = 0
    /// The expected start of the event.
    private(set) var anchor: Instant
    /// The transmit window: how much later than ``anchor`` the central may start.
    private(set) var window: Duration

    init(_ parameters: Link.Parameters) {
        isCentral = parameters.role == .central
        ownAccuracy = parameters.ownAccuracy
        drift = parameters.drift
        peerAccuracy = parameters.peerAccuracy
        lastSync = parameters.start.end
        let data = parameters.data
        let offset = Duration.microseconds(
            parameters.start.windowDelay + Int64(data.windowOffset) * LinkTiming.unit
        )
        anchor = parameters.start.end + offset.drifting(parameters.drift)
        window = .microseconds(Int64(data.windowSize) * LinkTiming.unit)
    }

    /// Returns the connection interval as measured by this device's clock.
    func interval(_ timing: LinkTiming) -> Duration { timing.intervalDuration.drifting(drift) }

    /// Returns how much earlier and later than expected the peripheral listens, in microseconds (4.2.4). Limited so as
    /// not to reach into the next event.
    func widening(_ timing: LinkTiming) -> Int64 {
        let widening = ClockAccuracy.widening(ownAccuracy, peerAccuracy, since: anchor - lastSync)
        return min(widening, timing.intervalMicroseconds / 2 - LinkTiming.interFrameSpace)
    }

    /// Returns when the central sends, or when the peripheral starts to listen.
    func start(_ timing: LinkTiming) -> Instant {
        isCentral ? anchor : anchor - .microseconds(widening(timing))
    }

    /// Returns until when the peripheral listens for the central's first PDU.
    func end(_ timing: LinkTiming) -> Instant {
        anchor + window + .microseconds(widening(timing))
    }

    /// Moves on to the next event, past `skipped` unused ones.
    mutating func advance(skipping skipped: Int, _ timing: LinkTiming) {
        counter &+= UInt16(truncatingIfNeeded: 1 + skipped)
        event += 1 + skipped
        let interval = interval(timing)
        anchor = anchor + (skipped == 0 ? interval : interval * (1 + skipped))
    }

    /// Returns to an event that was to be skipped, `events` before the current one.
    mutating func goBack(_ events: Int, _ timing: LinkTiming) {
        counter &-= UInt16(truncatingIfNeeded: events)
        event -= events
        anchor = anchor - interval(timing) * events
    }

    /// Whether this peripheral was in step with the central in the last event, so that all further ones are alike.
    func isInStep(with central: AnchorPoints, _ timing: LinkTiming) -> Bool {
        counter == central.counter && window == .zero && lastSync + central.interval(timing) == central.anchor
            && lastSync + interval(timing) == anchor
    }

    /// Moves on by `events` used events, the last of which started at `last`.
    mutating func pass(_ events: Int, last: Instant, _ timing: LinkTiming) {
        advance(skipping: events - 1, timing)
        if !isCentral { synchronize(at: last) }
        anchor = last + interval(timing)
    }

    /// Adopts the start of the central's first PDU as the anchor point, whether or not its CRC is correct (4.5.1).
    mutating func synchronize(at instant: Instant) {
        anchor = instant
        lastSync = anchor
        window = .zero
    }

    /// Moves the anchor point into the transmit window of a connection update (5.1.1).
    mutating func move(_ pdu: ConnectionUpdateIndication) {
        let offset = Duration.microseconds(Int64(pdu.windowOffset) * LinkTiming.unit)
        anchor = anchor + offset.drifting(drift)
        if !isCentral { window = .microseconds(Int64(pdu.windowSize) * LinkTiming.unit) }
    }

    /// Widens the receive window for the reported accuracy of the peer's sleep clock from now on (5.1.14).
    mutating func trust(_ accuracy: ClockAccuracy) {
        peerAccuracy = accuracy
    }
}
