import EventLoops

/// The authenticated payload timeout: the peer has to prove regularly that it holds the key (Core Vol 6 Part B 5.4).
struct PayloadWatch {
    private enum State {
        case off
        /// Running since the last authenticated packet or the last report of its absence. Also holds whether the peer
        /// has been pinged since.
        case on(since: Instant, hasPinged: Bool, ScheduledTask)
    }

    /// The action that is due when the timer has fired.
    enum Step {
        case none
        case ping
        /// The timeout has expired: the host is notified.
        case report
    }

    /// The number of connection events, beyond the peripheral latency, that LE Ping has before the timeout.
    private static let pingEvents: Int64 = 6

    /// The timeout, in units of 10 ms.
    let timeout: UInt16
    private var state = State.off

    /// Creates a watch that is off.
    ///
    /// - Parameter timeout: The timeout, in units of 10 ms. It is initially 30 s.
    init(timeout: UInt16 = 3_000) {
        self.timeout = timeout
    }

    /// Records an authenticated packet, which moves the deadline without rescheduling the timer.
    mutating func packetReceived(at now: Instant) {
        if case .on(_, _, let timer) = state { state = .on(since: now, hasPinged: false, timer) }
    }

    mutating func stop(on loop: any EventLoop) {
        if case .on(_, _, let timer) = state { loop.cancel(timer) }
        state = .off
    }

    /// Starts the timeout. `due` is called when the timer fires, and has to call ``timerFired(_:on:due:)``.
    mutating func start(_ timing: LinkTiming, on loop: any EventLoop, due: @escaping () -> Void) {
        run(since: loop.now, hasPinged: false, timing, on: loop, due: due)
    }

    /// Determines what is due, and restarts the timer.
    mutating func timerFired(_ timing: LinkTiming, on loop: any EventLoop, due: @escaping () -> Void) -> Step {
        guard case .on(let last, let hasPinged, _) = state else { return .none }
        guard deadline(since: last, hasPinged, timing) <= loop.now else {
            run(since: last, hasPinged: hasPinged, timing, on: loop, due: due)
            return .none
        }
        run(since: hasPinged ? loop.now : last, hasPinged: !hasPinged, timing, on: loop, due: due)
        return hasPinged ? .report : .ping
    }

    private mutating func run(
        since last: Instant,
        hasPinged: Bool,
        _ timing: LinkTiming,
        on loop: any EventLoop,
        due: @escaping () -> Void
    ) {
        let timer = loop.schedule(at: deadline(since: last, hasPinged, timing), due)
        state = .on(since: last, hasPinged: hasPinged, timer)
    }

    /// Returns when the peer must be pinged or, if it has been, when the timeout expires.
    private func deadline(since last: Instant, _ hasPinged: Bool, _ timing: LinkTiming) -> Instant {
        let timeout = Duration.milliseconds(Int64(timeout) * 10)
        if hasPinged { return last + timeout }
        let events = timing.intervalMicroseconds * (Int64(timing.latency) + Self.pingEvents)
        return last + timeout - .microseconds(min(events, timeout.microseconds / 2))
    }
}
