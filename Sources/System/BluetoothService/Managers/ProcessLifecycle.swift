import DequeModule
import EventLoops
import ServiceMessages

/// The component that controls the process of an app: a simulated device, or this machine. Called on the loop.
package protocol AppProcess: AnyObject {
    /// Stops the process from running until ``resume()``.
    func suspend()
    func resume()
    func end()
    /// A mark by which a later service recognizes the process. Nil if there is no process or no such mark.
    var mark: ProcessMark? { get }
}

extension AppProcess {
    package var mark: ProcessMark? { nil }
}

/// The life cycle of an app: the state machine with its timer, and the calls that wait while the app is not running.
/// Used on the loop only.
final class ProcessLifecycle: ManagerLifecycle {
    let declaration: AppDeclaration
    let executable: String?
    private(set) var lastInFront: UInt64
    /// Called after ``rules`` changed, with the action to apply to the app.
    var onChange: ((AppLifecycle.Action?) -> Void)?
    var process: (any AppProcess)? {
        didSet { mark = process?.mark }
    }
    private(set) var mark: ProcessMark?

    private var machine: AppLifecycle
    private var timer: ScheduledTask?
    private var activityTimer: ScheduledTask?
    private var held = Deque<(octets: Int, body: () -> Void)>()
    private var heldOctets = 0
    /// Whether a call of the app was dropped because too many wait until the app runs.
    private(set) var hasDropped = false
    let loop: any EventLoop
    private let nextInFront: () -> UInt64

    /// - Parameters:
    ///   - version: The version of the system, with its rules for Live Activities (behaviours 9.17, 9.18).
    ///   - nextInFront: Returns a number that is greater than all before, for an app that enters the foreground.
    init(
        _ declaration: AppDeclaration,
        _ executable: String?,
        inBackground: Bool,
        version: SystemVersion,
        loop: any EventLoop,
        nextInFront: @escaping () -> UInt64
    ) {
        self.declaration = declaration
        self.executable = executable
        self.loop = loop
        self.nextInFront = nextInFront
        // An unmanaged app is in the foreground from the beginning, no matter how it was launched, and an extension
        // never is (behaviours 9.20, 9.21).
        let isBehind = (inBackground || declaration.kind.isExtension) && declaration.isManaged
        machine = AppLifecycle(inBackground: isBehind, version: version)
        rules = BackgroundRules(declaration, in: machine.phase)
        lastInFront = isBehind ? 0 : nextInFront()
        perform(machine.firstActions)
    }

    var phase: AppPhase { machine.phase }
    var hasActivity: Bool { machine.hasActivity }
    var canStartActivity: Bool { machine.canStartActivity }
    var activityAccess: ActivityAccess {
        guard machine.hasActivities else { return .unsupported }
        guard declaration.supportsLiveActivities else { return .undeclared }
        return canStartActivity ? .allowed : .notVisible
    }
    /// Whether the app is not woken for now (behaviour 9.7).
    var isSlowedDown: Bool { machine.isSlowedDown }
    var hasProcess: Bool { isRunning || phase == .suspended }
    var isRunning: Bool { phase == .foreground || phase == .background }
    var isPreserved: Bool { false }
    /// Stored because each value asks for them.
    private(set) var rules: BackgroundRules

    func handle(_ event: AppLifecycle.Event) {
        // An unmanaged app is in the foreground until it is gone.
        guard declaration.isManaged || event.isEnd else { return }
        if declaration.kind.isExtension, event == .entered { return }
        let before = phase
        let actions = machine.handle(event)
        if phase != before || machine.isPrivileged != rules.isPrivileged {
            rules = BackgroundRules(declaration, in: phase, isPrivileged: machine.isPrivileged)
        }
        if phase == .foreground, before != .foreground { lastInFront = nextInFront() }
        perform(actions)
        if phase != before { onChange?(nil) }
    }

    func willDeliver(_ event: Event, _ role: ManagerRole, isAwaited: Bool) {
        guard phase == .suspended || machine.isRenewed, rules.wakes(role) else { return }
        if event.isNews || isAwaited { handle(.eventDelivered) }
    }

    func crash() { handle(.ended(.crashed)) }

    /// Calls `body` on behalf of the app, at once or when the app runs. Drops the call if too many wait already
    /// (AB-G05).
    ///
    /// - Parameter octets: The approximate memory that the call occupies while it waits.
    func whenRunning(octets: Int = 0, _ body: @escaping () -> Void) {
        guard !isRunning else { return body() }
        guard phase == .suspended else { return }
        guard held.count < ServiceLimits.heldRequests, heldOctets + octets <= ServiceLimits.heldOctets else {
            return hasDropped = true
        }
        held.append((octets, body))
        heldOctets += octets
    }

    private func perform(_ actions: [AppLifecycle.Action]) {
        for action in actions {
            switch action {
            case .startTimer(let time):
                if let timer = timer.take() { loop.cancel(timer) }
                timer = loop.schedule(after: time) { [weak self] in
                    self?.timer = nil
                    self?.handle(.timeIsUp)
                }
            case .endTimer: if let timer = timer.take() { loop.cancel(timer) }
            case .startActivityTimer(let time):
                if let activityTimer = activityTimer.take() { loop.cancel(activityTimer) }
                activityTimer = loop.schedule(after: time) { [weak self] in
                    self?.activityTimer = nil
                    self?.handle(.liveActivity(false))
                }
                onChange?(action)
            case .endActivityTimer:
                if let activityTimer = activityTimer.take() { loop.cancel(activityTimer) }
                onChange?(action)
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
}

extension AppLifecycle.Event {
    fileprivate var isEnd: Bool {
        if case .ended = self { true } else { false }
    }
}
