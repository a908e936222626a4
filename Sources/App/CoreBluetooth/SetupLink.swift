import Dispatch
import ServiceMessages
import Synchronization

/// The connection of a session of AccessorySetupKit to the service: that of a manager with other messages.
package final class SetupLink: EventReceiver {
    private let onEvent: @Sendable (Event) -> Void
    private let link = Mutex<ManagerLink?>(nil)

    /// Opens the session. `onEvent` is called on `queue`, never before this initializer has returned.
    package init(queue: DispatchQueue, onEvent: @escaping @Sendable (Event) -> Void) {
        self.onEvent = onEvent
        let connection = ServiceLocator.connect(otherwise: ProcessService.connection, warn: Misuse.warnOfOutsider)
        let options = ManagerOptions(showsPowerAlert: false)
        link.withLock {
            $0 = ManagerLink(.accessorySetup, options: options, queue: queue, connection: connection, of: self)
        }
    }

    func receive(_ event: Event) { onEvent(event) }

    /// Sends a request. The answer repeats its number.
    package func send(_ request: SetupRequest, number: UInt32) {
        link.withLock { $0 }?.send(.setup(number: number, request))
    }

    /// Calls `body` on the queue, in order with the events.
    package func callBack(_ body: @escaping @Sendable () -> Void) { link.withLock { $0 }?.callBack(body) }

    /// Ends the session at the service.
    package func close() { link.withLock { $0 }?.close() }
}
