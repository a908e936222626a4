import DequeModule
import EventLoops

/// Whoever has the process of an app in hand: a simulated device, or this machine. Called on the loop.
package protocol AppProcess: AnyObject {
    /// It shall not run, until ``resume()``.
    func suspend()
    /// It runs again.
    func resume()
    /// It is gone.
    func end()
    /// The process, for a service after this one; nil where there is none, or it cannot be told from others.
    var mark: ProcessMark? { get }
}

extension AppProcess {
    /// Nil.
    package var mark: ProcessMark? { nil }
}

/// The life of an app as it goes on: the machine with its timer, and what waits while the app does not run. Lives on the loop.
final class AppLife {
    let declaration: AppDeclaration
    /// The program that the app runs as, by its path; nil where that is not known.
    let executable: String?
    /// When the app was last in front of the person, as a number that grows with each app that comes there (behaviour 3.15).
    private(set) var lastInFront: UInt64
    /// Called after a change of ``rules``, with what is to be done to the app.
    var onChange: ((AppLifecycle.Action?) -> Void)?
    var process: (any AppProcess)? {
        didSet { mark = process?.mark }
    }
    /// The process, or the last one of what is kept of an app.
    private(set) var mark: ProcessMark?

    /// A process was started that has not connected yet.
    func started(as mark: ProcessMark) { self.mark = mark }

    /// Whether it is that of what is kept of an app, and not that of a process.
    private let isPreserved: Bool
    private var machine: AppLifecycle
    private var timer: ScheduledTask?
    private var held = Deque<(octets: Int, body: () -> Void)>()
    private var heldOctets = 0
    /// Whether something from the app's side was dropped because too much waits until the app runs.
    private(set) var hasDropped = false
    private unowned let system: BluetoothSystem

    init(_ declaration: AppDeclaration, _ executable: String?, inBackground: Bool, system: BluetoothSystem) {
        self.declaration = declaration
        self.executable = executable
        self.system = system
        isPreserved = false
        // One that nobody manages is in front from the beginning, whoever has launched it.
        let isBehind = inBackground && declaration.isManaged
        machine = AppLifecycle(inBackground: isBehind)
        lastInFront = isBehind ? 0 : system.nextInFront()
        perform(machine.firstActions)
    }

    /// The life of what is kept of an app, once its own is over.
    init(preservedFrom old: AppLife) {
        (declaration, executable) = (old.declaration, old.executable)
        lastInFront = old.lastInFront
        system = old.system
        isPreserved = true
        machine = .preserved
        mark = old.mark
    }

    /// The life of what was kept of an app by a system that is gone.
    init(preserving record: AppRecord, system: BluetoothSystem) {
        (declaration, executable) = (record.declaration, record.executable)
        mark = record.process
        self.system = system
        lastInFront = system.nextInFront()
        isPreserved = true
        machine = .preserved
    }

    var loop: any EventLoop { system.loop }
    var phase: AppPhase { machine.phase }
    /// Whether the app is not woken for now (behaviour 9.7).
    var isSlowedDown: Bool { machine.isSlowedDown }
    var hasProcess: Bool { isRunning || phase == .suspended }
    var isRunning: Bool { phase == .foreground || phase == .background }
    /// What an app that nobody manages leaves behind may do all that it could itself: it is as on a Mac.
    var rules: BackgroundRules {
        BackgroundRules(
            modes: declaration.isManaged ? declaration.backgroundModes : [.central, .peripheral],
            phase: phase
        )
    }

    func handle(_ event: AppLifecycle.Event) {
        // One that nobody manages is in front until it is gone, and is launched for what it left behind.
        guard declaration.isManaged || isPreserved || event.isEnd else { return }
        let before = phase
        let actions = machine.handle(event)
        if phase == .foreground, before != .foreground { lastInFront = system.nextInFront() }
        perform(actions)
        if phase != before { onChange?(nil) }
    }

    /// A manager is told something; it wakes the app, or gives it time (behaviour 9.7).
    func told(_ event: Event, _ role: ManagerRole, isAwaited: Bool = false) {
        guard phase == .suspended || machine.isRenewed, rules.wakes(role) else { return }
        guard isPreserved ? event.launches : event.isNews || isAwaited else { return }
        handle(.told)
    }

    /// Does something from the app's side, at once or when the app runs. It is dropped when too much waits already (AB-G05).
    ///
    /// - Parameter octets: About as much memory as it takes while it waits.
    func whenRunning(octets: Int = 0, _ body: @escaping () -> Void) {
        guard !isRunning else { return body() }
        guard phase == .suspended else { return }
        guard held.count < ServiceLimits.heldRequests, heldOctets + octets <= ServiceLimits.heldOctets else {
            return hasDropped = true
        }
        held.append((octets, body))
        heldOctets += octets
    }

    /// The process that was woken, or launched, for what is kept has ended: the next event wakes anew.
    func sleepAgain() {
        guard isPreserved, hasProcess else { return }
        endTimer()
        machine = .preserved
    }

    private func perform(_ actions: [AppLifecycle.Action]) {
        for action in actions {
            switch action {
            case .startTimer(let time):
                endTimer()
                timer = system.loop.schedule(after: time) { [weak self] in
                    self?.timer = nil
                    self?.handle(.timeIsUp)
                }
            case .endTimer: endTimer()
            case .suspend:
                process?.suspend()
                onChange?(.suspend)
            case .resume:
                onChange?(.resume)
                process?.resume()
                release()
            case .end:
                held.removeAll()
                heldOctets = 0
                onChange?(.end)
                process?.end()
            }
        }
    }

    private func release() {
        while isRunning, let (octets, body) = held.popFirst() {
            heldOctets -= octets
            body()
        }
    }

    private func endTimer() {
        if let timer { system.loop.cancel(timer) }
        timer = nil
    }
}

extension AppLifecycle.Event {
    fileprivate var isEnd: Bool {
        if case .ended = self { true } else { false }
    }
}
