import EventLoops

/// Whether the peer has been received (Core Vol 6 Part B 4.5). The first PDU from it establishes the link.
enum PeerPresence: Hashable {
    /// Nothing has been received since the link was made.
    case awaited(since: Instant)
    /// The peer has been received, the last time at this instant.
    case heard(Instant)

    var isEstablished: Bool {
        if case .heard = self { return true }
        return false
    }

    /// The start of the supervision timeout.
    var last: Instant {
        switch self {
        case .awaited(let instant), .heard(let instant): instant
        }
    }
}

/// The supervision of a link: when the peer was last received, and the timer that ends a silent link (4.5.2).
struct LinkSupervision {
    private var presence: PeerPresence
    private var timer: ScheduledTask?

    init(since start: Instant) {
        presence = .awaited(since: start)
    }

    /// Whether the peer has been received.
    var isEstablished: Bool { presence.isEstablished }
    /// When the peer was last received; before that, when the link was made.
    var lastHeard: Instant { presence.last }

    /// Returns when a silent link ends: six intervals after its start until the first PDU has been received, then the
    /// supervision timeout after the last one.
    func deadline(_ timing: LinkTiming) -> Instant { lastHeard + .microseconds(limit(timing)) }

    /// Whether nothing has been received for half of that time.
    func isInDanger(at now: Instant, _ timing: LinkTiming) -> Bool {
        now.nanoseconds(since: lastHeard) >= 1_000 * limit(timing) / 2
    }

    private func limit(_ timing: LinkTiming) -> Int64 {
        isEstablished ? timing.timeoutMicroseconds : timing.intervalMicroseconds * 6
    }

    /// Records a PDU with a correct CRC. The timer is left as it is, and is to be restarted when it fires early.
    mutating func heard(at now: Instant) {
        presence = .heard(now)
    }

    /// Starts or restarts the timer.
    mutating func restart(at deadline: Instant, on loop: any EventLoop, fired: @escaping () -> Void) {
        stop(on: loop)
        timer = loop.schedule(at: deadline, fired)
    }

    mutating func stop(on loop: any EventLoop) {
        if let timer { loop.cancel(timer) }
        timer = nil
    }
}

/// The timer of the control procedures. The peer has 40 s for each response (5.2); termination has a time of its own
/// (5.1.6).
struct ProcedureTimer {
    private var timer: ScheduledTask?
    /// The progress of the procedures for which the timer was started.
    private var progress = 0

    /// Whether the timer runs for this progress of the procedures.
    func isRunning(for progress: Int) -> Bool { timer != nil && self.progress == progress }

    /// Starts the time for the next response, unless it runs already.
    mutating func awaitResponse(_ progress: Int, on loop: any EventLoop, expired: @escaping () -> Void) {
        guard !isRunning(for: progress) else { return }
        self.progress = progress
        restart(after: LinkControl.responseTimeout, on: loop, expired: expired)
    }

    /// Starts or restarts the timer.
    mutating func restart(after time: Duration, on loop: any EventLoop, expired: @escaping () -> Void) {
        stop(on: loop)
        timer = loop.schedule(after: time, expired)
    }

    mutating func stop(on loop: any EventLoop) {
        if let timer { loop.cancel(timer) }
        timer = nil
    }
}
