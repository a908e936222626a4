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

    private enum State: Equatable {
        case foreground
        /// Was left; `asked` when it wants to finish something, `isExtended` when the first time is over.
        case leaving(asked: Bool, isExtended: Bool)
        case woken
        case suspended
        case ended(AppEnd)
    }

    /// How long an app runs after it was left (behaviour 9.1).
    static let grace = Duration.seconds(30)
    /// How long when it asks for more (behaviour 9.1).
    static let extendedGrace = Duration.seconds(180)
    /// How long it runs when it was woken; what it is told meanwhile renews that (behaviour 9.7).
    static let wakeTime = Duration.seconds(10)

    private var state: State

    /// The life of an app that was just launched.
    init(inBackground: Bool = false) {
        state = inBackground ? .woken : .foreground
    }

    private init(_ state: State) {
        self.state = state
    }

    /// What is kept of an app whose process is gone lives on as if it slept: to wake it is to launch the app (behaviour 10.4).
    static let preserved = AppLifecycle(.suspended)

    var phase: AppPhase {
        switch state {
        case .foreground: .foreground
        case .leaving, .woken: .background
        case .suspended: .suspended
        case .ended(let end): .notRunning(end)
        }
    }

    /// Whether the app is told something that gives it time (behaviour 9.7).
    var isRenewed: Bool { state == .woken }

    /// What is to be done for an app that was launched.
    var firstActions: [Action] { state == .woken ? [.startTimer(Self.wakeTime)] : [] }

    mutating func handle(_ event: Event) -> [Action] {
        switch (state, event) {
        // The person takes back what is kept of an app that ended otherwise (behaviour 10.16).
        case (.ended(let end), .ended(.forceQuit)) where end != .forceQuit: return move(to: .ended(.forceQuit), [.end])
        case (.ended, _): return []
        case (_, .ended(let end)): return move(to: .ended(end), [.endTimer, .end])
        case (.foreground, .left):
            return move(to: .leaving(asked: false, isExtended: false), [.startTimer(Self.grace)])
        case (.foreground, .asksForTime), (.foreground, .entered), (.foreground, .told), (.foreground, .timeIsUp):
            return []
        case (.leaving, .entered), (.woken, .entered): return move(to: .foreground, [.endTimer])
        case (.leaving(_, let isExtended), .asksForTime(let asked)):
            // What is finished in the second time needs no more of it.
            guard !asked, isExtended else { return move(to: .leaving(asked: asked, isExtended: isExtended), []) }
            return move(to: .suspended, [.endTimer, .suspend])
        case (.leaving(asked: true, isExtended: false), .timeIsUp):
            let rest = Self.extendedGrace - Self.grace
            return move(to: .leaving(asked: true, isExtended: true), [.startTimer(rest)])
        case (.leaving, .timeIsUp), (.woken, .timeIsUp): return move(to: .suspended, [.suspend])
        case (.woken, .told): return [.startTimer(Self.wakeTime)]
        case (.suspended, .told): return move(to: .woken, [.resume, .startTimer(Self.wakeTime)])
        case (.suspended, .entered): return move(to: .foreground, [.resume])
        case (.leaving, .told), (.leaving, .left), (.woken, .left), (.woken, .asksForTime), (.suspended, .left),
            (.suspended, .asksForTime), (.suspended, .timeIsUp):
            return []
        }
    }

    private mutating func move(to state: State, _ actions: [Action]) -> [Action] {
        self.state = state
        return actions
    }
}
