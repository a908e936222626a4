import ServiceMessages

/// The state machine that connects the process of an app to its service, and reconnects it after the service was gone.
/// Event in, actions out.
struct ServiceLinkMachine {
    enum Event: Equatable {
        case begin
        case connected
        case failed(MessageLineError)
        case accepted(version: UInt16)
        case dismissed(ServiceError)
        case lost(MessageLineError)
        case timeIsUp
    }

    enum Action: Equatable {
        case connect
        case sendHello
        /// Opens the managers of the app, which are new to this service.
        case open
        /// Sets the state of all managers. Pending requests are not answered any more.
        case report(ManagerState)
        case complain(String)
        case wait(Duration)
        case close
    }

    private enum State: Equatable {
        case idle
        case connecting(failures: Int)
        case handshaking(failures: Int)
        case open
        case waiting(failures: Int)
        case refused
    }

    /// The pause between attempts to reach a service that has just gone, which may be back at once. In all other cases
    /// it is the first pause, and each further one is twice as long.
    static let firstPause = Duration.milliseconds(50)
    static let longestPause = Duration.seconds(5)
    /// The number of failures, in 3 s, after which a service that was available counts as gone.
    static let failuresOfOneGone = 60

    private var state = State.idle
    /// Whether a service has been available before.
    private var hasWorked: Bool

    /// - Parameter isLaunched: Whether a service has launched this process. If that service is gone, its successor can
    ///   be expected soon.
    init(isLaunched: Bool = false) { hasWorked = isLaunched }

    var isOpen: Bool { state == .open }

    /// Whether it will soon be known if there is a service.
    var isConnecting: Bool {
        switch state {
        case .idle, .connecting(failures: 0), .handshaking: true
        case .connecting, .open, .waiting, .refused: false
        }
    }

    mutating func handle(_ event: Event) -> [Action] {
        switch (state, event) {
        case (.idle, .begin):
            state = .connecting(failures: 0)
            return [.connect]
        case (.connecting(let failures), .connected):
            state = .handshaking(failures: failures)
            return [.sendHello]
        case (.handshaking, .accepted(Hello.version)):
            state = .open
            hasWorked = true
            return [.open]
        case (.handshaking, .accepted(let version)):
            let text =
                "the Bluetooth service uses protocol version \(version), and this program \(Hello.version)"
            return refuse("\(text); use both from the same release")
        case (.handshaking, .dismissed(let error)) where error.isPassing,
            (.open, .dismissed(let error)) where error.isPassing:
            return [.close] + lose(error.reason ?? "the Bluetooth service is shutting down")
        case (.handshaking, .dismissed(let error)), (.open, .dismissed(let error)):
            return refuse(error.reason ?? "the Bluetooth service refused this program")
        case (.connecting, .failed(let error)), (.handshaking, .lost(let error)), (.open, .lost(let error)):
            return lose("\(error)")
        case (.waiting(let failures), .timeIsUp):
            state = .connecting(failures: failures)
            return [.connect]
        case (.refused, _), (.idle, _), (.connecting, _), (.handshaking, _), (.open, _), (.waiting, _): return []
        }
    }

    private mutating func refuse(_ reason: String) -> [Action] {
        state = .refused
        return [.complain(reason), .report(.unsupported), .close]
    }

    private mutating func lose(_ reason: String) -> [Action] {
        var failures = 0
        if case .connecting(let before) = state { failures = before + 1 }
        if case .handshaking(let before) = state { failures = before + 1 }
        let wasOpen = state == .open
        state = .waiting(failures: failures)
        let doublings = max(0, hasWorked ? failures - Self.failuresOfOneGone : failures)
        let pause = min(Self.firstPause * (1 << min(doublings, 10)), Self.longestPause)
        if wasOpen { return [.report(.resetting), .wait(pause)] }
        let isGone = failures == (hasWorked ? Self.failuresOfOneGone : 1)
        return (isGone ? [.complain(reason), .report(.unsupported)] : []) + [.wait(pause)]
    }
}

extension ServiceError {
    /// Whether another attempt may succeed: the service is shutting down, or has too many clients at the moment.
    fileprivate var isPassing: Bool { code == .core(.operationCancelled) || code == .core(.outOfSpace) }
}
