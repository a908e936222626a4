import CoreBluetooth
import Dispatch
import EventLoops
import ServiceMessages
import Synchronization

/// A service that does nothing by itself: it records requests, and the test decides on the responses and their timing.
package final class StandInService: ServiceConnection {
    private struct Manager {
        let role: ManagerRole
        let options: ManagerOptions
        let queue: any CallbackQueue
        let handler: @Sendable (Event) -> Void
    }

    private struct State {
        var managers: [ManagerID: Manager] = [:]
        var opened: [ManagerID] = []
        var closed: [ManagerID] = []
        var requests: [Request] = []
        var queries: [Query] = []
        var peripherals: [PeerInfo] = []
        var info = SystemInfo()
        var misuses: [String] = []
        var notes: [AppNote] = []
    }

    private let state = Mutex(State())

    package init() {}

    package func openManager(
        _ role: ManagerRole,
        options: ManagerOptions,
        queue: any CallbackQueue,
        handler: @escaping @Sendable (Event) -> Void
    ) -> ManagerID {
        state.withLock {
            let id = ManagerID(UInt32($0.opened.count + 1))
            $0.managers[id] = Manager(role: role, options: options, queue: queue, handler: handler)
            $0.opened.append(id)
            return id
        }
    }

    package func closeManager(_ manager: ManagerID) {
        state.withLock { $0.closed.append(manager) }
    }

    package func send(_ request: Request, from manager: ManagerID) {
        state.withLock { $0.requests.append(request) }
    }

    package func callBack(_ manager: ManagerID, _ body: @escaping @Sendable () -> Void) {
        state.withLock { $0.managers[manager] }?.queue.async(body)
    }

    package func ask(_ query: Query, from manager: ManagerID) -> Result<Reply, ServiceError> {
        state.withLock {
            $0.queries.append(query)
            return switch query {
            case .peripherals: .success(.peripherals($0.peripherals))
            case .connectedPeripherals: .success(.connectedPeripherals($0.peripherals))
            case .system: .success(.system($0.info))
            case .names: .success(.names(KnownNames()))
            case .scanCounts: .success(.scanCounts(nil))
            }
        }
    }

    package func noteMisuse(_ text: String) {
        state.withLock { $0.misuses.append(text) }
    }

    package func note(_ note: AppNote, of manager: ManagerID, at site: CallSite?) {
        state.withLock { $0.notes.append(note) }
    }

    // MARK: Test interface

    /// The reports for advice, without those that name the place where a manager was created.
    package var notes: [AppNote] { state.withLock { $0.notes.filter { $0 != .managerCreated } } }

    /// The reported misuse of the API.
    package var misuses: [String] { state.withLock { $0.misuses } }

    /// Delivers an event to a manager, by default the latest one, on its queue. Returns when the app's code has
    /// returned.
    package func deliver(_ event: Event, to manager: ManagerID? = nil) {
        let target = state.withLock { state in (manager ?? state.opened.last).flatMap { state.managers[$0] } }
        guard let target else { return }
        let returned = DispatchSemaphore(value: 0)
        target.queue.async {
            target.handler(event)
            returned.signal()
        }
        returned.wait()
    }

    /// Delivers a channel event as the service does: synchronously, on this thread.
    package func report(_ event: ChannelEvent, of channel: ChannelID) {
        let target = state.withLock { state in state.opened.last.flatMap { state.managers[$0] } }
        target?.handler(.channel(channel, event))
    }

    /// Enqueues an event for the latest manager without waiting.
    package func post(_ event: Event) {
        let target = state.withLock { state in state.opened.last.flatMap { state.managers[$0] } }
        target?.queue.async { target?.handler(event) }
    }

    /// The requests that ``takeRequests()`` has not returned yet.
    package var requests: [Request] { state.withLock { $0.requests } }

    /// Removes and returns the requests since the last call.
    package func takeRequests() -> [Request] {
        state.withLock { state in
            defer { state.requests = [] }
            return state.requests
        }
    }

    package func answer(peripherals: [PeerInfo]) {
        state.withLock { $0.peripherals = peripherals }
    }

    package func answer(_ info: SystemInfo) {
        state.withLock { $0.info = info }
    }

    package var queries: [Query] { state.withLock { $0.queries } }
    package var opened: [ManagerID] { state.withLock { $0.opened } }
    package var closed: [ManagerID] { state.withLock { $0.closed } }
    package var options: [ManagerOptions] {
        state.withLock { state in state.opened.compactMap { state.managers[$0]?.options } }
    }
    package var queue: DispatchQueue? {
        let queue = state.withLock { state in state.opened.last.flatMap { state.managers[$0]?.queue } }
        return (queue as? AppQueue)?.queue
    }

    /// Runs `body` as an app that uses this service.
    package func run<R>(_ body: () throws -> R) rethrows -> R {
        try ServiceLocator.$current.withValue(self, operation: body)
    }
}
