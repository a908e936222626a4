import EventLoops
import L2CAP

/// When enhanced bearers are asked for on one link, and what happens when both ends ask at once (Core Vol 3 Part G 5.4).
///
/// Each end counts its own requests against its bound, so that both refuse for want of room. Then the central asks again
/// at once, and the peripheral waits: by then it finds the bearers that the central has opened.
struct EnhancedBearerMachine {
    /// Most requests for one wish.
    static let maximumAttempts = 3
    /// The least that a peripheral waits after a collision (Vol 3 Part G 5.4).
    static let minimumDelay = Duration.milliseconds(100)

    enum Event {
        /// So many bearers are wanted in all, and `open` are there.
        case want(Int, open: Int)
        /// A request was answered; now `open` are there.
        case answered(ChannelOpenError?, open: Int)
        /// The wait is over; now `open` are there.
        case due(open: Int)
    }

    enum Action: Equatable {
        /// Ask for so many.
        case request(Int)
        /// Wait for so long.
        case wait(Duration)
        /// The wish is dealt with: nil, or why bearers are missing.
        case finished(ChannelOpenError?)
    }

    private enum State {
        case idle
        case requesting(wanted: Int, attempts: Int)
        case waiting(wanted: Int, attempts: Int)
    }

    let role: L2CAPConnection.Role
    /// How long one event of the link can take to be answered: twice the connection interval times the peripheral
    /// latency plus one.
    var linkDelay = Duration.zero
    private var state = State.idle

    init(role: L2CAPConnection.Role) {
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
