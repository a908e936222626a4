import Dispatch
import EventLoops
import Synchronization

/// The line of an app that runs in the process of the service.
public final class InProcessConnection: ServiceConnection {
    private let app: LoopBound<AppSession>
    private let lastManager = Atomic<UInt32>(0)
    private let crossing = MessageCrossing.chosen
    private let lines = Mutex<[ManagerID: ManagerLine]>([:])

    /// On the loop only.
    init(_ app: AppSession, loop: any EventLoop) {
        self.app = LoopBound(app, loop: loop)
    }

    /// An app that is gone leaves nothing behind (AB-G05).
    deinit {
        app.loop.submit { [app] in app.value.close() }
    }

    /// Registers a manager.
    public func openManager(
        _ role: ManagerRole,
        options: ManagerOptions,
        queue: DispatchQueue,
        handler: @escaping @Sendable (Event) -> Void
    ) -> ManagerID {
        let id = ManagerID(lastManager.add(1, ordering: .relaxed).newValue)
        let line = ManagerLine(queue: queue) { [crossing] in handler(crossing.pass($0, to: id)) }
        lines.withLock { $0[id] = line }
        let opening = crossing.pass(AppMessage.openManager(id, role, options))
        guard case .openManager(_, let role, let options) = opening else { return id }
        app.loop.submit { [app] in app.value.openManager(id, role, options, line) }
        return id
    }

    /// Ends everything that the manager has going on.
    public func closeManager(_ manager: ManagerID) {
        let line = lines.withLock { $0.removeValue(forKey: manager) }
        line?.close()
        app.loop.submit { [app] in app.value.closeManager(manager) }
    }

    /// Sends a request.
    public func send(_ request: Request, from manager: ManagerID) {
        let request = crossing.pass(request, of: manager)
        app.loop.submit { [app] in app.value.handle(request, from: manager) }
    }

    /// Asks, and waits for the answer.
    public func ask(_ query: Query, from manager: ManagerID) -> Result<Reply, ServiceError> {
        let reply = Box()
        let query = crossing.pass(query, of: manager)
        app.loop.submitAndWait { [app] in
            reply.value.withLock { $0 = app.value.answer(query, from: manager) }
        }
        return crossing.pass(reply.value.withLock { $0 })
    }

    private final class Box: Sendable {
        let value = Mutex(Result<Reply, ServiceError>.failure(.noManager))
    }
}
