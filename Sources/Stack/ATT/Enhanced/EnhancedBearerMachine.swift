import EventLoops
import L2CAP

/// The state machine that opens enhanced bearers on one link and resolves collisions (Core Vol 3 Part G 5.4).
///
/// When both ends request bearers at once, each counts its own request against its limit, so both refuse for lack of
/// resources. The central then retries at once. The peripheral waits first, and by then finds the bearers that the
/// central has opened.
struct EnhancedBearerMachine {
    /// The maximum number of requests for one call to open bearers.
    static let maximumAttempts = 3
    /// The minimum wait of a peripheral after a collision (Vol 3 Part G 5.4).
    static let minimumDelay = Duration.milliseconds(100)

    enum Event {
        /// The total number of bearers wanted; `open` are open now.
        case want(Int, open: Int)
        case answered(ChannelOpenError?, open: Int)
        case due(open: Int)
    }

    enum Action: Equatable {
        case request(Int)
        /// Wait, then report ``Event/due(open:)``.
        case wait(Duration)
        /// The request is complete. The error, if any, is the reason for missing bearers.
        case finished(ChannelOpenError?)
    }

    private enum State {
        case idle
        case requesting(wanted: Int, attempts: Int)
        case waiting(wanted: Int, attempts: Int)
    }

    let role: L2CAPRole
    /// The longest time in which the peer can answer: twice the connection interval times the peripheral latency plus
    /// one.
    var linkDelay = Duration.zero
    private var state = State.idle

    init(role: L2CAPRole) {
        self.role = role
    }

    var isBusy: Bool {
        if case .idle = state { false } else { true }
    }

    mutating func handle(_ event: Event) -> [Action] {
        switch (state, event) {
        case (.idle, .want(let wanted, let open)): return request(wanted, open: open, attempts: 0)
        case (.requesting(let wanted, let attempts), .answered(let error, let open)):
            return answered(error, wanted: wanted, open: open, attempts: attempts)
        case (.waiting(let wanted, let attempts), .due(let open)):
            return request(wanted, open: open, attempts: attempts)
        default: return []
        }
    }

    private mutating func request(_ wanted: Int, open: Int, attempts: Int) -> [Action] {
        guard open < wanted else {
            state = .idle
            return [.finished(nil)]
        }
        state = .requesting(wanted: wanted, attempts: attempts + 1)
        return [.request(wanted - open)]
    }

    private mutating func answered(_ error: ChannelOpenError?, wanted: Int, open: Int, attempts: Int) -> [Action] {
        guard error == .refused(.insufficientResources), open < wanted, attempts < Self.maximumAttempts else {
            state = .idle
            return [.finished(open < wanted ? error : nil)]
        }
        if role == .central { return request(wanted, open: open, attempts: attempts) }
        state = .waiting(wanted: wanted, attempts: attempts)
        return [.wait(max(Self.minimumDelay, linkDelay))]
    }
}
