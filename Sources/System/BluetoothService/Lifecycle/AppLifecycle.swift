import ServiceMessages

/// The state machine of an app's life cycle: the transitions between phases, and how long the app may run
/// (behaviours 9.1, 9.7). Performs no I/O.
package struct AppLifecycle {
    package enum Event: Equatable, Sendable {
        case entered
        case left
        /// The app begins a background task (true) or ends it (false).
        case asksForTime(Bool)
        /// The app starts a Live Activity (true), or it ends (false).
        case liveActivity(Bool)
        /// The app opened its first manager (true), or closed its last one (false).
        case hasManager(Bool)
        /// The app receives an event that may wake it.
        case eventDelivered
        case timeIsUp
        case ended(AppEnd)
    }

    enum Action: Equatable {
        /// Replaces a running timer.
        case startTimer(Duration)
        case endTimer
        /// Starts the timer of the Live Activity, at whose end the system ends it.
        case startActivityTimer(Duration)
        case endActivityTimer
        case suspend
        case resume
        case end
    }

    /// `hasTask` is true while a background task is open.
    private enum State: Equatable {
        case foreground(hasTask: Bool)
        /// Left by the user, and in its first grace period.
        case leaving(hasTask: Bool)
        case woken(hasTask: Bool)
        /// The app's own time is over, and its background task continues.
        case finishing(isWoken: Bool)
        case suspended
        /// Suspended, and not woken before the timer fires, because the app overran its time too often.
        case slowedDown(hasEvent: Bool)
        case ended(AppEnd)

        var isForeground: Bool { if case .foreground = self { true } else { false } }
    }

    /// The Live Activity of the app (behaviour 9.17).
    private enum Activity: Equatable {
        case none
        case shown
        /// Shown since before the app left the foreground with a manager.
        case privileged
    }

    /// How long a Live Activity lasts unless the app ends it before (behaviour 9.18).
    static let activityTime = Duration.seconds(8 * 3_600)
    /// How long an app runs after the user left it (behaviour 9.1).
    static let grace = Duration.seconds(30)
    /// How long an app that was left or woken runs in total with a background task, wherever begun (behaviour 9.1).
    static let extendedGrace = Duration.seconds(180)
    /// How long an app runs after it was woken. Each further event restarts this time (behaviour 9.7).
    static let wakeTime = Duration.seconds(10)

    /// The consecutive wakes with an unfinished background task before the app is slowed down (behaviour 9.7).
    static let toleratedOverruns = 3
    /// The minimum time that a slowed-down app stays suspended. It doubles with each further overrun.
    static let firstSlowdown = Duration.seconds(60)
    static let longestSlowdown = Duration.seconds(3_600)

    private var state: State
    private var activity = Activity.none
    private var hasManager = false
    private let version: SystemVersion
    /// Consecutive wakes in which the app overran its time.
    private var overruns = 0

    init(inBackground: Bool = false, version: SystemVersion = .newest) {
        self.version = version
        state = inBackground ? .woken(hasTask: false) : .foreground(hasTask: false)
    }

    var phase: AppPhase {
        switch state {
        case .foreground: .foreground
        case .leaving, .woken, .finishing: .background
        case .suspended, .slowedDown: .suspended
        case .ended(let end): .notRunning(end)
        }
    }

    /// Whether the app has a Live Activity.
    var hasActivity: Bool { activity != .none }

    /// Whether the app can start a Live Activity now (behaviour 9.18).
    var canStartActivity: Bool { state.isForeground && hasActivities }

    /// Whether the system has Live Activities (behaviour 9.18).
    var hasActivities: Bool { version.has(.liveActivities) }

    /// Whether the app may do in the background what it may do in the foreground (behaviour 9.17).
    var isPrivileged: Bool { activity == .privileged }

    /// Whether a further event extends the app's time (behaviour 9.7).
    var isRenewed: Bool { if case .woken = state { true } else { false } }

    /// Whether the app is not woken for now because it overran its time too often (behaviour 9.7).
    var isSlowedDown: Bool { if case .slowedDown = state { true } else { false } }

    var firstActions: [Action] { isRenewed ? [.startTimer(Self.wakeTime)] : [] }

    mutating func handle(_ event: Event) -> [Action] {
        switch event {
        case .hasManager(let hasManager):
            self.hasManager = hasManager
            return []
        case .liveActivity(true): return startActivity()
        case .liveActivity(false): return endActivity()
        case .entered where isPrivileged: activity = .shown
        case .left where state.isForeground && hasActivity && hasManager && version.has(.liveActivityPrivileges):
            activity = .privileged
        default: break
        }
        return move(by: event)
    }

    /// Starts a Live Activity, which only an app in the foreground can, from iOS 16.1 on (behaviour 9.18). Another one
    /// starts its time again.
    private mutating func startActivity() -> [Action] {
        guard canStartActivity else { return [] }
        activity = .shown
        return [.startActivityTimer(Self.activityTime)]
    }

    private mutating func endActivity() -> [Action] {
        guard hasActivity else { return [] }
        activity = .none
        return [.endActivityTimer]
    }

    private mutating func move(by event: Event) -> [Action] {
        switch (state, event) {
        // By a force-quit the user also discards what is preserved of an app that ended otherwise (behaviour 10.16).
        case (.ended(let end), .ended(.forceQuit)) where end != .forceQuit: return move(to: .ended(.forceQuit), [.end])
        case (.ended, _): return []
        case (_, .ended(let end)): return endActivity() + move(to: .ended(end), [.endTimer, .end])
        case (.foreground(let hasTask), .left):
            return move(to: .leaving(hasTask: hasTask), [.startTimer(Self.grace)])
        case (.foreground, .asksForTime(let hasTask)): return move(to: .foreground(hasTask: hasTask), [])
        case (.leaving, .asksForTime(let hasTask)): return move(to: .leaving(hasTask: hasTask), [])
        case (.woken, .asksForTime(let hasTask)): return move(to: .woken(hasTask: hasTask), [])
        // An app that ends its task within the task's time needs no more of it.
        case (.finishing, .asksForTime(false)): return suspend([.endTimer, .suspend])
        case (.leaving(let hasTask), .entered), (.woken(let hasTask), .entered): return enter(hasTask, [.endTimer])
        case (.finishing, .entered): return enter(true, [.endTimer])
        case (.suspended, .entered): return enter(false, [.resume])
        case (.slowedDown, .entered): return enter(false, [.endTimer, .resume])
        case (.leaving(hasTask: true), .timeIsUp): return finish(after: Self.grace, isWoken: false)
        case (.woken(hasTask: true), .timeIsUp): return finish(after: Self.wakeTime, isWoken: true)
        case (.finishing(isWoken: true), .timeIsUp): return overrun()
        case (.leaving, .timeIsUp), (.woken, .timeIsUp), (.finishing, .timeIsUp): return suspend([.suspend])
        case (.slowedDown(hasEvent: false), .timeIsUp): return move(to: .suspended, [])
        case (.slowedDown, .eventDelivered): return move(to: .slowedDown(hasEvent: true), [])
        case (.woken, .eventDelivered): return [.startTimer(Self.wakeTime)]
        case (.suspended, .eventDelivered), (.slowedDown(hasEvent: true), .timeIsUp):
            return move(to: .woken(hasTask: false), [.resume, .startTimer(Self.wakeTime)])
        case (.slowedDown, .left), (.slowedDown, .asksForTime), (.foreground, .entered), (.foreground, .eventDelivered),
            (.foreground, .timeIsUp), (.leaving, .eventDelivered),
            (.leaving, .left), (.woken, .left), (.finishing, .eventDelivered), (.finishing, .left),
            (.finishing, .asksForTime(true)), (.suspended, .left), (.suspended, .asksForTime), (.suspended, .timeIsUp),
            (_, .liveActivity), (_, .hasManager):
            return []
        }
    }

    /// The app's own time is over. Its background task has the rest of the extended time.
    private mutating func finish(after time: Duration, isWoken: Bool) -> [Action] {
        move(to: .finishing(isWoken: isWoken), [.startTimer(Self.extendedGrace - time)])
    }

    /// Suspends an app that did not need more time than it had.
    private mutating func suspend(_ actions: [Action]) -> [Action] {
        overruns = 0
        return move(to: .suspended, actions)
    }

    private mutating func enter(_ hasTask: Bool, _ actions: [Action]) -> [Action] {
        overruns = 0
        return move(to: .foreground(hasTask: hasTask), actions)
    }

    /// Called when a wake used up its own time and that of the background task, which the app did not end.
    private mutating func overrun() -> [Action] {
        overruns += 1
        let excess = overruns - Self.toleratedOverruns
        guard excess >= 0 else { return move(to: .suspended, [.suspend]) }
        let pause = Duration.backoff(first: Self.firstSlowdown, doublings: excess, longest: Self.longestSlowdown)
        return move(to: .slowedDown(hasEvent: false), [.suspend, .startTimer(pause)])
    }

    private mutating func move(to state: State, _ actions: [Action]) -> [Action] {
        self.state = state
        return actions
    }
}
