import EventLoops

/// The supervision of a link: when the peer was last received, and the timer that ends a silent link (Core Vol 6 Part B
/// 4.5.2).
struct LinkSupervision {
    /// Whether the peer has been received. The first PDU from it establishes the link (4.5).
    private(set) var isEstablished = false
    /// When the peer was last received; before that, when the link was made.
    private(set) var lastReception: Instant
    /// When the supervision timer was last reset: by a PDU, or by a connection update (5.1.1).
    private var origin: Instant
    private var timer: ScheduledTask?

    init(since start: Instant) {
        lastReception = start
        origin = start
    }

    /// Returns when a silent link ends: six intervals after its start until the first PDU has been received, then the
    /// supervision timeout after the last reset of the timer.
    func deadline(_ timing: LinkTiming) -> Instant { origin + .microseconds(limit(timing)) }

    /// Whether half of that time has passed.
    func isInDanger(at now: Instant, _ timing: LinkTiming) -> Bool {
        now.nanoseconds(since: origin) >= 1_000 * limit(timing) / 2
    }

    private func limit(_ timing: LinkTiming) -> Int64 {
        isEstablished ? timing.timeoutMicroseconds : timing.intervalMicroseconds * 6
    }

    /// Records a PDU with a correct CRC. The timer is left as it is, and is to be restarted when it fires early.
    ///
    /// - Returns: Whether the PDU establishes the link, whose deadline may then be earlier than the timer.
    mutating func packetReceived(at now: Instant) -> Bool {
        defer { (isEstablished, lastReception, origin) = (true, now, now) }
        return !isEstablished
    }

    /// Resets the timer at the start of a connection update's transmit window, which may be ahead (5.1.1).
    mutating func reset(at window: Instant) {
        origin = max(origin, window)
    }

    /// Whether the timer has been started and has not fired.
    var isRunning: Bool { timer != nil }

    /// Records that the timer has fired.
    mutating func fire() {
        timer = nil
    }

    mutating func restart(at deadline: Instant, on loop: any EventLoop, fired: @escaping () -> Void) {
        stop(on: loop)
        timer = loop.schedule(at: deadline, fired)
    }

    mutating func stop(on loop: any EventLoop) {
        if let timer = timer.take() { loop.cancel(timer) }
    }
}

/// The timer of the control procedures. The peer has 40 s for each response (5.2); termination has a time of its own
/// (5.1.6).
struct ProcedureTimer {
    private var timer: ScheduledTask?
    /// The progress of the procedures for which the timer was started.
    private var progress = 0

    var isRunning: Bool { timer != nil }

    /// Starts the time for the next response, unless it runs already.
    mutating func awaitResponse(_ progress: Int, on loop: any EventLoop, expired: @escaping () -> Void) {
        guard timer == nil || self.progress != progress else { return }
        self.progress = progress
        restart(after: LinkControl.responseTimeout, on: loop, expired: expired)
    }

    mutating func restart(after time: Duration, on loop: any EventLoop, expired: @escaping () -> Void) {
        stop(on: loop)
        timer = loop.schedule(after: time, expired)
    }

    mutating func stop(on loop: any EventLoop) {
        if let timer = timer.take() { loop.cancel(timer) }
    }
}
