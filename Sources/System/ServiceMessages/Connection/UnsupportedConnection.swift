import EventLoops
import Synchronization

/// A connection where there is no controller. It reports to every manager that Bluetooth is unsupported, and nothing
/// else.
package final class UnsupportedConnection: ServiceConnection {
    private let outlets = Mutex<(last: UInt32, open: [ManagerID: EventOutlet])>((0, [:]))

    package init() {}

    package func openManager(
        _ role: ManagerRole,
        options: ManagerOptions,
        queue: any CallbackQueue,
        handler: @escaping @Sendable (Event) -> Void
    ) -> ManagerID {
        let outlet = EventOutlet(queue: queue, handler: handler)
        let id = outlets.withLock { outlets in
            outlets.last += 1
            outlets.open[ManagerID(outlets.last)] = outlet
            return ManagerID(outlets.last)
        }
        outlet.send(.stateChanged(.unsupported))
        return id
    }

    package func closeManager(_ manager: ManagerID) {
        outlets.withLock { $0.open.removeValue(forKey: manager) }?.close()
    }

    package func callBack(_ manager: ManagerID, _ body: @escaping @Sendable () -> Void) {
        outlets.withLock { $0.open[manager] }?.call(body)
    }

    package func send(_ request: Request, from manager: ManagerID) {}

    package func ask(_ query: Query, from manager: ManagerID) -> Result<Reply, ServiceError> {
        .failure(ServiceError(.operationNotSupported, reason: "there is no controller"))
    }
}
