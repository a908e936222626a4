/// What becomes of the radio as controllers come and go and the person switches it on and off (behaviours 1.3, 1.4, 1.9 to
/// 1.14): which state managers see, and when a controller is looked for.
struct PowerMachine {
    enum Phase: Equatable {
        /// Nobody has asked for a radio, or not any more.
        case idle
        /// There is a controller, which comes up or works; `attempts` have failed since one has worked.
        case attached(isReady: Bool, attempts: Int)
        /// The person has switched it off.
        case off(isAttached: Bool)
        /// There is none.
        case missing(attempts: Int)
    }

    enum Event: Equatable {
        case start
        case stop
        case switched(isOn: Bool)
        /// Where a controller was looked for there is none.
        case noneThere
        /// The controller comes up, for the first time or after a reset.
        case starting
        case ready
        /// It cannot be used any more, or its line is gone.
        case failed
        /// It is time to look again, or somebody says that there is one.
        case lookAgain
    }

    enum Action: Equatable {
        /// Opens the line to a controller and starts a device on it.
        case open
        case startDevice
        case stopDevice
        /// Lets go of the device and its line.
        case discard
        case tell(ManagerState)
        /// Says why there is none.
        case reportFailure
        case startTimer(Duration)
        case endTimer
    }

    /// When a controller is looked for again at first, and each time twice as long until ``longestPause``.
    static let firstPause = Duration.seconds(1)
    /// See ``firstPause``.
    static let longestPause = Duration.seconds(30)

    private(set) var phase = Phase.idle

    mutating func handle(_ event: Event) -> [Action] {
        switch (phase, event) {
        case (.idle, .start): return attach(attempts: 1, [.open])
        case (.idle, .switched(isOn: false)): return rest(isAttached: false, [])
        case (_, .stop): return stop()
        case (.attached(_, _), .ready): return worked()
        // What was going on there is over, and more is to come (behaviour 1.4).
        case (.attached(true, _), .starting): return attach(attempts: 0, [.tell(.resetting)])
        case (.attached(let isReady, 0), .failed):
            // It has worked: perhaps it is back at once.
            return attach(attempts: 1, [.discard] + (isReady ? [.tell(.resetting)] : []) + [.open])
        case (.attached(_, let attempts), .failed): return miss(attempts, [.discard], isTimed: true)
        case (.attached(_, let attempts), .noneThere): return miss(attempts, [], isTimed: false)
        case (.attached, .switched(isOn: false)): return rest(isAttached: true, [.stopDevice])
        case (.missing, .switched(isOn: false)): return rest(isAttached: false, [.endTimer])
        case (.missing(let attempts), .lookAgain): return attach(attempts: attempts, [.endTimer, .open])
        case (.off(isAttached: true), .switched(isOn: true)): return attach(attempts: 0, [.startDevice])
        case (.off(isAttached: false), .switched(isOn: true)): return attach(attempts: 1, [.open])
        case (.idle, _), (.attached, _), (.off, _), (.missing, _): return []
        }
    }

    private mutating func attach(attempts: Int, _ actions: [Action]) -> [Action] {
        phase = .attached(isReady: false, attempts: attempts)
        return actions
    }

    private mutating func worked() -> [Action] {
        phase = .attached(isReady: true, attempts: 0)
        return [.tell(.poweredOn)]
    }

    private mutating func rest(isAttached: Bool, _ actions: [Action]) -> [Action] {
        phase = .off(isAttached: isAttached)
        return actions + [.tell(.poweredOff)]
    }

    /// A place that says when a controller comes is not asked again and again. That there is none is told once.
    private mutating func miss(_ attempts: Int, _ actions: [Action], isTimed: Bool) -> [Action] {
        phase = .missing(attempts: attempts + 1)
        let pause = (1..<max(attempts, 1)).reduce(Self.firstPause) { pause, _ in min(pause * 2, Self.longestPause) }
        let news: [Action] = attempts <= 1 ? [.tell(.unsupported), .reportFailure] : []
        return actions + news + (isTimed ? [.startTimer(pause)] : [])
    }

    private mutating func stop() -> [Action] {
        defer { phase = .idle }
        switch phase {
        case .attached, .off(isAttached: true): return [.stopDevice, .discard, .tell(.unsupported)]
        case .missing: return [.endTimer, .tell(.unsupported)]
        case .idle, .off(isAttached: false): return [.tell(.unsupported)]
        }
    }
}
