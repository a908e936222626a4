import EventLoops
import ServiceMessages
import Synchronization

/// The connection of an app that runs in the service's process.
package final class InProcessConnection: ServiceConnection {
    let app: LoopBound<App>
    private let lastManager = Atomic<UInt32>(0)
    private let crossing = MessageCrossing.chosen
    private let outlets = Mutex<[ManagerID: EventOutlet]>([:])
    /// Whether the process has ended. What remains of it, such as a late deinitializer, no longer reaches the service.
    private let isCut = Atomic(false)
    package let launchedFor: RestoreIdentifiers
    package let place: SimulatedPlace?
    private let keeper = Mutex<AppTimekeeper?>(nil)

    /// See ``ServiceConnection/timekeeper``. Nil after the end of the process.
    package var timekeeper: AppTimekeeper? { hasEnded ? nil : keeper.withLock { $0 } }

    package func follow(_ timekeeper: AppTimekeeper) { keeper.withLock { $0 = timekeeper } }

    /// Called on the loop only.
    init(_ app: App, launchedFor: RestoreIdentifiers, at place: SimulatedPlace?, loop: any EventLoop) {
        self.launchedFor = launchedFor
        self.place = place
        self.app = LoopBound(app, loop: loop)
        if place != nil { ServiceLocator.noteSimulatedApp(isThere: true) }
    }

    /// Closes the app, which leaves nothing behind (AB-G05).
    deinit {
        if place != nil { ServiceLocator.noteSimulatedApp(isThere: false) }
        app.loop.submit { [app] in app.value.close() }
    }

    package func openManager(
        _ role: ManagerRole,
        options: ManagerOptions,
        queue: any CallbackQueue,
        handler: @escaping @Sendable (Event) -> Void
    ) -> ManagerID {
        let id = ManagerID(lastManager.add(1, ordering: .relaxed).newValue)
        guard !hasEnded else { return id }
        let outlet = EventOutlet(
            queue: queue,
            countsEvents: options.restoreIdentifier != nil,
            handler: crossing.taking(handler, for: id)
        )
        outlets.withLock { $0[id] = outlet }
        let opening = crossing.pass(AppMessage.openManager(id, role, options))
        guard case .openManager(_, let role, let options) = opening else { return id }
        onLoop { $0.openManager(id, role, options, outlet) }
        return id
    }

    package func closeManager(_ manager: ManagerID) {
        outlets.withLock { $0.removeValue(forKey: manager) }?.close()
        onLoop { $0.closeManager(manager) }
    }

    package func send(_ request: Request, from manager: ManagerID) { pass(request, from: manager, nil) }

    package func send(_ request: Request, from manager: ManagerID, at site: CallSite) {
        pass(request, from: manager, site)
    }

    private func pass(_ request: Request, from manager: ManagerID, _ site: CallSite?) {
        guard !hasEnded else { return }
        // The wire format cannot carry too long a list, so such a request passes unencoded and the service refuses it.
        let request = request.listError == nil ? crossing.pass(request, of: manager) : request
        // Most of an app's messages pass here: one closure, and not another one of onLoop(_:).
        app.loop.submit { [app] in app.value.handle(request, from: manager, at: site) }
    }

    package func ask(_ query: Query, from manager: ManagerID) -> Result<Reply, ServiceError> {
        guard !hasEnded else { return .failure(.noManager) }
        let reply = Box()
        let query = query.listError == nil ? crossing.pass(query, of: manager) : query
        app.loop.submitAndWait { [app] in
            reply.value.withLock { $0 = app.value.answer(query, from: manager) }
        }
        return crossing.pass(reply.value.withLock { $0 })
    }

    /// Calls back in order with the service's own callbacks if the clock stops for callbacks.
    package func call(_ callback: @escaping @Sendable () -> Void, on queue: any CallbackQueue) {
        guard !hasEnded else { return }
        guard !canWait else { return queue.async(callback) }
        app.loop.submit { [app] in app.value.lifecycle.whenRunning { app.loop.deliver(on: queue, callback) } }
    }

    /// True in real time.
    package var canWait: Bool { !(app.loop is VirtualEventLoop) }

    package func callBack(_ manager: ManagerID, _ body: @escaping @Sendable () -> Void) {
        guard let outlet = outlets.withLock({ $0[manager] }) else { return }
        app.loop.submit { [app] in app.value.lifecycle.whenRunning { outlet.call(body, on: app.loop) } }
    }

    /// Measures `delay` by the clock of the loop.
    package func callBack(
        _ manager: ManagerID,
        after delay: Duration,
        _ body: @escaping @Sendable () -> Void
    ) -> @Sendable () -> Void {
        guard let outlet = outlets.withLock({ $0[manager] }) else { return {} }
        let (loop, timer) = (app.loop, TimerBox())
        loop.submit { [app] in
            let task = loop.schedule(after: delay) {
                app.value.lifecycle.whenRunning { outlet.call(body, on: loop) }
            }
            timer.task.withLock { $0 = task }
        }
        // This is submitted after the start of the timer, so the task is set by then.
        return { loop.submit { if let task = timer.task.withLock({ $0 }) { loop.cancel(task) } } }
    }

    /// Cuts the connection in both directions after the end of the app's process.
    package func cut() {
        isCut.store(true, ordering: .releasing)
        let open = outlets.withLock { outlets in
            defer { outlets = [:] }
            return outlets
        }
        for outlet in open.values { outlet.close() }
    }

    /// Whether the connection was cut, because the app's process has ended.
    package var hasEnded: Bool { isCut.load(ordering: .acquiring) }

    /// Calls `body` with the app on the loop, unless the connection was cut.
    private func onLoop(_ body: @escaping @Sendable (App) -> Void) {
        guard !hasEnded else { return }
        app.loop.submit { [app] in body(app.value) }
    }

    package func noteMisuse(_ text: String) { onLoop { $0.noteMisuse(text) } }

    package func noteMisuse(_ text: String, at site: CallSite) { onLoop { $0.noteMisuse(text, at: site) } }

    package func note(_ note: AppNote, of manager: ManagerID, at site: CallSite?) {
        onLoop { $0.note(note, of: manager, at: site) }
    }

    package func noteWarning(_ text: String) { onLoop { $0.noteWarning(text) } }

    /// Reports to the observers of the system that the app waits by the clock of this machine.
    package func noteWait(_ function: String) { onLoop { $0.noteWait(function) } }

    private final class TimerBox: Sendable {
        let task = Mutex<ScheduledTask?>(nil)
    }

    private final class Box: Sendable {
        let value = Mutex(Result<Reply, ServiceError>.failure(.noManager))
    }
}

// MARK: - Life cycle

/// The interface for the component that controls the app's process. May be used from any thread, unless noted.
extension InProcessConnection {
    package var phase: AppPhase {
        app.with { $0.phase }
    }

    package var hasActivity: Bool {
        app.with { $0.hasActivity }
    }

    /// Whether the app can start a Live Activity now (behaviour 9.18). Used on the loop only.
    package var canStartActivity: Bool { app.value.canStartActivity }

    package func happened(_ event: AppLifecycle.Event) {
        app.with { $0.happened(event) }
    }

    /// Brings the app to the foreground because the user opened it. On the loop only.
    ///
    /// - Returns: `false` if its process is gone.
    package func enter() -> Bool { app.value.enter() }

    /// Sets the object that suspends and resumes the app's process. On the loop only.
    package func runs(in process: any AppProcess) {
        app.value.runs(in: process)
    }
}
