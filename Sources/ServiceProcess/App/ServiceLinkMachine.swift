import BluetoothService

/// How the process of an app comes to its service, and back to it when the service was gone. Event in, actions out.
struct ServiceLinkMachine {
    enum Event: Equatable {
        case begin
        case connected
        case failed(MessageLineError)
        case welcomed(version: UInt16)
        case dismissed(ServiceError)
        case lost(MessageLineError)
        case timeIsUp
    }

    enum Action: Equatable {
        case connect
        case greet
        /// The service is there: what the app has is opened anew.
        case open
        /// Nothing that was asked for is answered any more.
        case tell(ManagerState)
        case complain(String)
        case wait(Duration)
        case close
    }

    private enum State: Equatable {
        case idle
        case connecting(failures: Int)
        case greeting(failures: Int)
        case open
        case waiting(failures: Int)
        case refused
    }

    /// The pause between attempts to reach a service that has just gone: it may be back at once. In all other cases each pause is twice the one
    /// before, which begins with this.
    static let firstPause = Duration.milliseconds(50)
    /// The longest pause.
    static let longestPause = Duration.seconds(5)
    /// Failures after which a service that was there counts as gone: 3 s of them.
    static let failuresOfOneGone = 60

    private var state = State.idle
    /// Whether a service has been there.
    private var hasWorked: Bool

    /// - Parameter isLaunched: Whether a service has launched this process: if that service is gone, the next one is about to come.
    init(isLaunched: Bool = false) { hasWorked = isLaunched }

    /// Whether the service takes messages.
    var isOpen: Bool { state == .open }

    /// Whether it will be clear soon whether there is a service.
    var isOnItsWay: Bool {
        switch state {
        case .idle, .connecting(failures: 0), .greeting: true
        case .connecting, .open, .waiting, .refused: false
        }
    }

    mutating func handle(_ event: Event) -> [Action] {
        switch (state, event) {
        case (.idle, .begin):
            state = .connecting(failures: 0)
            return [.connect]
        case (.connecting(let failures), .connected):
            state = .greeting(failures: failures)
            return [.greet]
        case (.greeting, .welcomed(Hello.version)):
            state = .open
            hasWorked = true
            return [.open]
        case (.greeting, .welcomed(let version)):
            let text =
                "the Bluetooth service speaks version \(version) of the messages, and this program \(Hello.version)"
            return refuse("\(text); both have to be of one release")
        case (.greeting, .dismissed(let error)) where error.isPassing,
            (.open, .dismissed(let error)) where error.isPassing:
            return [.close] + lose(error.reason ?? "it ends")
        case (.greeting, .dismissed(let error)), (.open, .dismissed(let error)):
            return refuse(error.reason ?? "the Bluetooth service does not want this program")
        case (.connecting, .failed(let error)), (.greeting, .lost(let error)), (.open, .lost(let error)):
            return lose("\(error)")
        case (.waiting(let failures), .timeIsUp):
            state = .connecting(failures: failures)
            return [.connect]
        case (.refused, _), (.idle, _), (.connecting, _), (.greeting, _), (.open, _), (.waiting, _): return []
        }
    }

    private mutating func refuse(_ reason: String) -> [Action] {
        state = .refused
        return [.complain(reason), .tell(.unsupported), .close]
    }

    private mutating func lose(_ reason: String) -> [Action] {
        var failures = 0
        if case .connecting(let before) = state { failures = before + 1 }
        if case .greeting(let before) = state { failures = before + 1 }
        let wasOpen = state == .open
        state = .waiting(failures: failures)
        let doublings = max(0, hasWorked ? failures - Self.failuresOfOneGone : failures)
        let pause = min(Self.firstPause * (1 << min(doublings, 10)), Self.longestPause)
        if wasOpen { return [.tell(.resetting), .wait(pause)] }
        let isGone = failures == (hasWorked ? Self.failuresOfOneGone : 1)
        return (isGone ? [.complain(reason), .tell(.unsupported)] : []) + [.wait(pause)]
    }
}

extension ServiceError {
    /// Whether another attempt may succeed: the service itself ends, or it has too many clients at this moment.
    fileprivate var isPassing: Bool { code == .core(.operationCancelled) || code == .core(.outOfSpace) }
}
