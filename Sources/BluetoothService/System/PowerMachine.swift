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
        /// The device of the one that there was is being reset.
        case mending(attempts: Int)
    }

    /// What is done about a controller that failed (``RecoveryLadder``).
    enum Remedy: Equatable {
        /// A new line, at once if the controller has worked on the last one.
        case reopen
        /// A reset of the device, and then a new line.
        case resetDevice
        /// A new line after a while.
        case wait(Duration)
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
        case failed(Remedy)
        /// The device has been reset, or it has been tried for long enough.
        case deviceReset
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
        /// Lets go of the device, and has it reset by its line.
        case resetDevice
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

    /// Whether the person has not switched it off.
    var isSwitchedOn: Bool { if case .off = phase { false } else { true } }

    mutating func handle(_ event: Event) -> [Action] {
        switch (phase, event) {
        case (.idle, .start): return attach(attempts: 1, [.open])
        case (.idle, .switched(isOn: false)): return rest(isAttached: false, [])
        case (_, .stop): return stop()
        case (.attached(_, _), .ready): return worked()
        // What was going on there is over, and more is to come (behaviour 1.4).
        case (.attached(true, _), .starting): return attach(attempts: 0, [.tell(.resetting)])
        case (.attached(let isReady, let attempts), .failed(.resetDevice)):
            phase = .mending(attempts: max(attempts, 1))
            return (isReady ? [.tell(.resetting)] : []) + [.resetDevice]
        case (.attached(_, let attempts), .failed(.wait(let pause))): return miss(attempts, [.discard], pause: pause)
        case (.mending(let attempts), .failed(.wait(let pause))): return miss(attempts, [], pause: pause)
        case (.mending(let attempts), .deviceReset): return attach(attempts: attempts, [.open])
        case (.mending, .switched(isOn: false)): return rest(isAttached: false, [])
        case (.attached(let isReady, 0), .failed):
            // It has worked: perhaps it is back at once.
            return attach(attempts: 1, [.discard] + (isReady ? [.tell(.resetting)] : []) + [.open])
        case (.attached(_, let attempts), .failed): return miss(attempts, [.discard], pause: Self.pause(attempts))
        case (.attached(_, let attempts), .noneThere): return miss(attempts, [], pause: nil)
        case (.attached, .switched(isOn: false)): return rest(isAttached: true, [.stopDevice])
        case (.missing, .switched(isOn: false)): return rest(isAttached: false, [.endTimer])
        case (.missing(let attempts), .lookAgain): return attach(attempts: attempts, [.endTimer, .open])
        case (.off(isAttached: true), .switched(isOn: true)): return attach(attempts: 0, [.startDevice])
        case (.off(isAttached: false), .switched(isOn: true)): return attach(attempts: 1, [.open])
        case (.idle, _), (.attached, _), (.off, _), (.missing, _), (.mending, _): return []
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
    private mutating func miss(_ attempts: Int, _ actions: [Action], pause: Duration?) -> [Action] {
        phase = .missing(attempts: max(attempts, 1) + 1)
        let news: [Action] = attempts <= 1 ? [.tell(.unsupported), .reportFailure] : []
        return actions + news + (pause.map { [.startTimer($0)] } ?? [])
    }

    private static func pause(_ attempts: Int) -> Duration {
        (1..<max(attempts, 1)).reduce(firstPause) { pause, _ in min(pause * 2, longestPause) }
    }

    private mutating func stop() -> [Action] {
        defer { phase = .idle }
        switch phase {
        case .attached, .off(isAttached: true): return [.stopDevice, .discard, .tell(.unsupported)]
        case .missing: return [.endTimer, .tell(.unsupported)]
        case .idle, .off(isAttached: false), .mending: return [.tell(.unsupported)]
        }
    }
}
