import ServiceMessages

/// The state machine of the radio, as controllers come and go and the user switches it on and off (behaviours 1.3, 1.4,
/// 1.9 to 1.14). It determines which state managers receive, and when to look for a controller.
struct PowerMachine {
    enum Phase: Equatable {
        /// Not started, or stopped.
        case idle
        /// A controller starts up or works. `attempts` counts failures since the last success.
        case attached(isReady: Bool, attempts: Int)
        case off(isAttached: Bool)
        case missing(attempts: Int)
        /// The device of the last controller is being reset.
        case repairing(attempts: Int)
    }

    /// The remedy for a controller that failed (``RecoveryLadder``).
    enum Remedy: Equatable {
        /// Open a new transport, at once if the controller has worked on the last one.
        case reopen
        case resetDevice
        case wait(Duration)
    }

    enum Event: Equatable {
        case start
        case stop
        case switched(isOn: Bool)
        case noneThere
        /// The controller starts up, for the first time or after a reset.
        case starting
        case ready
        /// The controller has failed, or its transport has closed.
        case failed(Remedy)
        /// The reset of the device is complete or has timed out.
        case deviceReset
        /// The timer has fired, or a controller has arrived.
        case retry
    }

    enum Action: Equatable {
        /// Opens the transport to a controller and starts a device on it.
        case open
        case startDevice
        case stopDevice
        case discard
        /// Discards the device and resets it through its transport.
        case resetDevice
        case report(ManagerState)
        case reportFailure
        case startTimer(Duration)
        case endTimer
    }

    /// The pause before the first retry. It doubles with each retry, up to ``longestPause``.
    private static let firstPause = Duration.seconds(1)
    private static let longestPause = Duration.seconds(30)

    private(set) var phase = Phase.idle

    var isSwitchedOn: Bool { if case .off = phase { false } else { true } }

    mutating func handle(_ event: Event) -> [Action] {
        switch (phase, event) {
        case (.idle, .start): return attach(attempts: 1, [.open])
        case (.idle, .switched(isOn: false)): return rest(isAttached: false, [])
        case (_, .stop): return stop()
        case (.attached(_, _), .ready): return worked()
        // All activities have ended, and the controller is expected back (behaviour 1.4).
        case (.attached(true, _), .starting): return attach(attempts: 0, [.report(.resetting)])
        case (.attached(let isReady, let attempts), .failed(.resetDevice)):
            phase = .repairing(attempts: max(attempts, 1))
            return (isReady ? [.report(.resetting)] : []) + [.resetDevice]
        case (.attached(_, let attempts), .failed(.wait(let pause))): return miss(attempts, [.discard], pause: pause)
        case (.repairing(let attempts), .failed(.wait(let pause))): return miss(attempts, [], pause: pause)
        case (.repairing(let attempts), .deviceReset): return attach(attempts: attempts, [.open])
        case (.repairing, .switched(isOn: false)): return rest(isAttached: false, [])
        case (.attached(let isReady, 0), .failed):
            // It has worked before, so it may be back at once.
            return attach(attempts: 1, [.discard] + (isReady ? [.report(.resetting)] : []) + [.open])
        case (.attached(_, let attempts), .failed): return miss(attempts, [.discard], pause: Self.pause(attempts))
        case (.attached(_, let attempts), .noneThere): return miss(attempts, [], pause: nil)
        case (.attached, .switched(isOn: false)): return rest(isAttached: true, [.stopDevice])
        case (.missing, .switched(isOn: false)): return rest(isAttached: false, [.endTimer])
        case (.missing(let attempts), .retry): return attach(attempts: attempts, [.endTimer, .open])
        case (.off(isAttached: true), .switched(isOn: true)): return attach(attempts: 0, [.startDevice])
        case (.off(isAttached: false), .switched(isOn: true)): return attach(attempts: 1, [.open])
        case (.idle, _), (.attached, _), (.off, _), (.missing, _), (.repairing, _): return []
        }
    }

    private mutating func attach(attempts: Int, _ actions: [Action]) -> [Action] {
        phase = .attached(isReady: false, attempts: attempts)
        return actions
    }

    private mutating func worked() -> [Action] {
        phase = .attached(isReady: true, attempts: 0)
        return [.report(.poweredOn)]
    }

    private mutating func rest(isAttached: Bool, _ actions: [Action]) -> [Action] {
        phase = .off(isAttached: isAttached)
        return actions + [.report(.poweredOff)]
    }

    /// Enters the missing phase, which is reported once. A source that announces controllers is not polled.
    private mutating func miss(_ attempts: Int, _ actions: [Action], pause: Duration?) -> [Action] {
        phase = .missing(attempts: max(attempts, 1) + 1)
        let news: [Action] = attempts <= 1 ? [.report(.unsupported), .reportFailure] : []
        return actions + news + (pause.map { [.startTimer($0)] } ?? [])
    }

    static func pause(_ attempts: Int) -> Duration {
        .backoff(first: firstPause, doublings: attempts - 1, longest: longestPause)
    }

    private mutating func stop() -> [Action] {
        defer { phase = .idle }
        switch phase {
        case .attached, .off(isAttached: true): return [.stopDevice, .discard, .report(.unsupported)]
        case .missing: return [.endTimer, .report(.unsupported)]
        case .idle, .off(isAttached: false), .repairing: return [.report(.unsupported)]
        }
    }
}
