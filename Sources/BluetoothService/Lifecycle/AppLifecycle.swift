/// Where an app is in its life.
public enum AppPhase: Hashable, Sendable {
    /// In front of the person.
    case foreground
    /// Not in front of the person, and running: for a while after it was left, or since something woke it.
    case background
    /// In memory, and not running.
    case suspended
    /// Its process is gone.
    case notRunning(AppEnd)
}

/// How the process of an app ended.
public enum AppEnd: Hashable, Sendable {
    /// By a fault of its own, or a signal.
    case crashed
    /// The system needed the memory.
    case removedFromMemory
    /// The person ended it.
    case forceQuit
    /// The device was switched off.
    case deviceRestarted
}

/// The life of one app: what moves it from one phase to another, and how long it may run (behaviours 9.1, 9.7). No input or
/// output in here.
package struct AppLifecycle {
    package enum Event: Equatable, Sendable {
        /// The person opens the app.
        case entered
        /// The person leaves it for another one.
        case left
        /// The app asks for time to finish something, or has finished it.
        case asksForTime(Bool)
        /// The app is told something that it may be woken by.
        case told
        case timeIsUp
        case ended(AppEnd)
    }

    enum Action: Equatable {
        /// Takes the place of a timer that runs.
        case startTimer(Duration)
        case endTimer
        /// It runs no more, or again.
        case suspend
        case resume
        case end
    }

    /// `hasTask` says that the app has begun a background task, and not ended it.
    private enum State: Equatable {
        case foreground(hasTask: Bool)
        /// Was left, for the first time span.
        case leaving(hasTask: Bool)
        case woken(hasTask: Bool)
        /// Its own time is over, and its background task goes on.
        case finishing(isWoken: Bool)
        case suspended
        /// Suspended, and not woken before its timer: it has overrun its time too often.
        case slowedDown(isTold: Bool)
        case ended(AppEnd)
    }

    /// How long an app runs after it was left (behaviour 9.1).
    static let grace = Duration.seconds(30)
    /// How long when it has a background task, which it may have begun in the foreground, or when it was woken (behaviour 9.1).
    static let extendedGrace = Duration.seconds(180)
    /// How long it runs when it was woken; what it is told meanwhile renews that (behaviour 9.7).
    static let wakeTime = Duration.seconds(10)

    /// Wakes in a row whose time was up while the background task went on, before the app is slowed down (behaviour 9.7).
    static let toleratedOverruns = 3
    /// How long an app that is slowed down sleeps at least; it doubles with each further overrun.
    static let firstSlowdown = Duration.seconds(60)
    static let longestSlowdown = Duration.seconds(3_600)

    private var state: State
    /// Wakes in a row that took longer than the app may.
    private var overruns = 0

    /// The life of an app that was just launched.
    init(inBackground: Bool = false) {
        state = inBackground ? .woken(hasTask: false) : .foreground(hasTask: false)
    }

    private init(_ state: State) {
        self.state = state
    }

    /// What is kept of an app whose process is gone lives on as if it slept: to wake it is to launch the app (behaviour 10.4).
    static let preserved = AppLifecycle(.suspended)

    var phase: AppPhase {
        switch state {
        case .foreground: .foreground
        case .leaving, .woken, .finishing: .background
        case .suspended, .slowedDown: .suspended
        case .ended(let end): .notRunning(end)
        }
    }

    /// Whether the app is told something that gives it time (behaviour 9.7).
    var isRenewed: Bool { if case .woken = state { true } else { false } }

    /// Whether the app is not woken for now, since it has overrun its time too often (behaviour 9.7).
    var isSlowedDown: Bool { if case .slowedDown = state { true } else { false } }

    /// What is to be done for an app that was launched.
    var firstActions: [Action] { isRenewed ? [.startTimer(Self.wakeTime)] : [] }

    mutating func handle(_ event: Event) -> [Action] {
        switch (state, event) {
        // The person takes back what is kept of an app that ended otherwise (behaviour 10.16).
        case (.ended(let end), .ended(.forceQuit)) where end != .forceQuit: return move(to: .ended(.forceQuit), [.end])
        case (.ended, _): return []
        case (_, .ended(let end)): return move(to: .ended(end), [.endTimer, .end])
        case (.foreground(let hasTask), .left):
            return move(to: .leaving(hasTask: hasTask), [.startTimer(Self.grace)])
        case (.foreground, .asksForTime(let hasTask)): return move(to: .foreground(hasTask: hasTask), [])
        case (.leaving, .asksForTime(let hasTask)): return move(to: .leaving(hasTask: hasTask), [])
        case (.woken, .asksForTime(let hasTask)): return move(to: .woken(hasTask: hasTask), [])
        // What is finished in the time of the task needs no more of it.
        case (.finishing, .asksForTime(false)): return suspend([.endTimer, .suspend])
        case (.leaving(let hasTask), .entered), (.woken(let hasTask), .entered): return enter(hasTask, [.endTimer])
        case (.finishing, .entered): return enter(true, [.endTimer])
        case (.suspended, .entered): return enter(false, [.resume])
        case (.slowedDown, .entered): return enter(false, [.endTimer, .resume])
        case (.leaving(hasTask: true), .timeIsUp): return finish(after: Self.grace, isWoken: false)
        case (.woken(hasTask: true), .timeIsUp): return finish(after: Self.wakeTime, isWoken: true)
        case (.finishing(isWoken: true), .timeIsUp): return overrun()
        case (.leaving, .timeIsUp), (.woken, .timeIsUp), (.finishing, .timeIsUp): return suspend([.suspend])
        case (.slowedDown(isTold: false), .timeIsUp): return move(to: .suspended, [])
        case (.slowedDown, .told): return move(to: .slowedDown(isTold: true), [])
        case (.woken, .told): return [.startTimer(Self.wakeTime)]
        case (.suspended, .told), (.slowedDown(isTold: true), .timeIsUp):
            return move(to: .woken(hasTask: false), [.resume, .startTimer(Self.wakeTime)])
        case (.slowedDown, .left), (.slowedDown, .asksForTime), (.foreground, .entered), (.foreground, .told),
            (.foreground, .timeIsUp), (.leaving, .told),
            (.leaving, .left), (.woken, .left), (.finishing, .told), (.finishing, .left),
            (.finishing, .asksForTime(true)), (.suspended, .left), (.suspended, .asksForTime), (.suspended, .timeIsUp):
            return []
        }
    }

    /// Its own time is over. The task has the rest of its own.
    private mutating func finish(after time: Duration, isWoken: Bool) -> [Action] {
        move(to: .finishing(isWoken: isWoken), [.startTimer(Self.extendedGrace - time)])
    }

    /// It did not need more time than it had.
    private mutating func suspend(_ actions: [Action]) -> [Action] {
        overruns = 0
        return move(to: .suspended, actions)
    }

    private mutating func enter(_ hasTask: Bool, _ actions: [Action]) -> [Action] {
        overruns = 0
        return move(to: .foreground(hasTask: hasTask), actions)
    }

    /// A wake took all its time, and that of its background task, which the app did not end.
    private mutating func overrun() -> [Action] {
        overruns += 1
        let excess = overruns - Self.toleratedOverruns
        guard excess >= 0 else { return move(to: .suspended, [.suspend]) }
        let pause = min(Self.firstSlowdown * (1 << min(excess, 16)), Self.longestSlowdown)
        return move(to: .slowedDown(isTold: false), [.suspend, .startTimer(pause)])
    }

    private mutating func move(to state: State, _ actions: [Action]) -> [Action] {
        self.state = state
        return actions
    }
}
