import EventLoops
import ServiceMessages
import Synchronization

/// An app's connection to the service that can be made to end just below the API: notifications are then counted there,
/// on the app's queue, and go no further.
final class TappedConnection: ServiceConnection {
    let notified = Tally()
    /// Whether notifications end here.
    let isTapped = Atomic(false)
    private let line: any ServiceConnection

    init(_ line: any ServiceConnection) {
        self.line = line
    }

    func openManager(
        _ role: ManagerRole,
        options: ManagerOptions,
        queue: any CallbackQueue,
        handler: @escaping @Sendable (Event) -> Void
    ) -> ManagerID {
        line.openManager(role, options: options, queue: queue) { [unowned self] event in
            guard isTapped.load(ordering: .relaxed), case .central(.peer(_, .valueNotified)) = event else {
                return handler(event)
            }
            notified.add()
        }
    }

    func closeManager(_ manager: ManagerID) { line.closeManager(manager) }

    func send(_ request: Request, from manager: ManagerID) { line.send(request, from: manager) }

    func ask(_ query: Query, from manager: ManagerID) -> Result<Reply, ServiceError> { line.ask(query, from: manager) }

    func callBack(_ manager: ManagerID, _ body: @escaping @Sendable () -> Void) { line.callBack(manager, body) }

    func call(_ callback: @escaping @Sendable () -> Void, on queue: any CallbackQueue) {
        line.call(callback, on: queue)
    }

    var canWait: Bool { line.canWait }
}
