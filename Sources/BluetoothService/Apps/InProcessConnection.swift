import EventLoops
import Synchronization

/// The line of an app that runs in the process of the service.
package final class InProcessConnection: ServiceConnection {
    let app: LoopBound<App>
    private let lastManager = Atomic<UInt32>(0)
    private let crossing = MessageCrossing.chosen
    private let outlets = Mutex<[ManagerID: EventOutlet]>([:])
    /// Whether the app's process has ended: nothing that is left of it reaches the service, such as a deinitializer that runs late.
    private let isCut = Atomic(false)
    /// See ``ServiceConnection/launchedFor``.
    package let launchedFor: RestoreIdentifiers

    /// On the loop only.
    init(_ app: App, launchedFor: RestoreIdentifiers, loop: any EventLoop) {
        self.launchedFor = launchedFor
        self.app = LoopBound(app, loop: loop)
    }

    /// An app that is gone leaves nothing behind (AB-G05).
    deinit {
        app.loop.submit { [app] in app.value.close() }
    }

    /// Registers a manager.
    package func openManager(
        _ role: ManagerRole,
        options: ManagerOptions,
        queue: any CallbackQueue,
        handler: @escaping @Sendable (Event) -> Void
    ) -> ManagerID {
        let id = ManagerID(lastManager.add(1, ordering: .relaxed).newValue)
        guard !isOver else { return id }
        let outlet = EventOutlet(
            queue: queue,
            countsEvents: options.restoreIdentifier != nil,
            handler: crossing.taking(handler, for: id)
        )
        outlets.withLock { $0[id] = outlet }
        let opening = crossing.pass(AppMessage.openManager(id, role, options))
        guard case .openManager(_, let role, let options) = opening else { return id }
        app.loop.submit { [app] in app.value.openManager(id, role, options, outlet) }
        return id
    }

    /// Ends everything that the manager has going on.
    package func closeManager(_ manager: ManagerID) {
        let outlet = outlets.withLock { $0.removeValue(forKey: manager) }
        outlet?.close()
        guard !isOver else { return }
        app.loop.submit { [app] in app.value.closeManager(manager) }
    }

    /// Sends a request.
    package func send(_ request: Request, from manager: ManagerID) {
        guard !isOver else { return }
        // The wire format does not pass a list that is too long. The service refuses it.
        let request = request.listError == nil ? crossing.pass(request, of: manager) : request
        app.loop.submit { [app] in app.value.handle(request, from: manager) }
    }

    /// Asks, and waits for the answer.
    package func ask(_ query: Query, from manager: ManagerID) -> Result<Reply, ServiceError> {
        guard !isOver else { return .failure(.noManager) }
        let reply = Box()
        let query = query.listError == nil ? crossing.pass(query, of: manager) : query
        app.loop.submitAndWait { [app] in
            reply.value.withLock { $0 = app.value.answer(query, from: manager) }
        }
        return crossing.pass(reply.value.withLock { $0 })
    }

    /// Calls back in the order of the service's own callbacks where the clock stops for them.
    package func call(_ callback: @escaping @Sendable () -> Void, on queue: any CallbackQueue) {
        guard !isOver else { return }
        guard !canWait else { return queue.async(callback) }
        app.loop.submit { [app] in app.value.life.whenRunning { app.loop.deliver(on: queue, callback) } }
    }

    /// In real time.
    package var canWait: Bool { !(app.loop is VirtualEventLoop) }

    /// Calls the app.
    package func callBack(_ manager: ManagerID, _ body: @escaping @Sendable () -> Void) {
        guard let outlet = outlets.withLock({ $0[manager] }) else { return }
        app.loop.submit { [app] in app.value.life.whenRunning { outlet.call(body, on: app.loop) } }
    }

    /// By the clock of the loop.
    package func callBack(
        _ manager: ManagerID,
        after delay: Duration,
        _ body: @escaping @Sendable () -> Void
    ) -> @Sendable () -> Void {
        guard let outlet = outlets.withLock({ $0[manager] }) else { return {} }
        let (loop, timer) = (app.loop, TimerBox())
        loop.submit { [app] in
            let task = loop.schedule(after: delay) {
                app.value.life.whenRunning { outlet.call(body, on: loop) }
            }
            timer.task.withLock { $0 = task }
        }
        // Submitted behind the start of the timer, which so is known by then.
        return { loop.submit { if let task = timer.task.withLock({ $0 }) { loop.cancel(task) } } }
    }

    /// The process of the app is gone: nothing comes out any more, and nothing goes in.
    package func cut() {
        isCut.store(true, ordering: .releasing)
        let open = outlets.withLock { outlets in
            defer { outlets = [:] }
            return outlets
        }
        for outlet in open.values { outlet.close() }
    }

    private var isOver: Bool { isCut.load(ordering: .acquiring) }

    /// Tells those who observe the system.
    package func noteMisuse(_ text: String) {
        guard !isOver else { return }
        app.loop.submit { [app] in app.value.noteMisuse(text) }
    }

    private final class TimerBox: Sendable {
        let task = Mutex<ScheduledTask?>(nil)
    }

    private final class Box: Sendable {
        let value = Mutex(Result<Reply, ServiceError>.failure(.noManager))
    }
}
