import BluetoothService
import CoreBluetooth
import Dispatch
import EventLoops
import ServiceMessages
import Synchronization

/// A service whose responses and their timing the test dictates.
final class ScriptedService: ServiceConnection {
    private struct State {
        var queue: (any CallbackQueue)?
        var handler: (@Sendable (Event) -> Void)?
        var requests: [Request] = []
    }

    private let state = Mutex(State())

    func openManager(
        _ role: ManagerRole,
        options: ManagerOptions,
        queue: any CallbackQueue,
        handler: @escaping @Sendable (Event) -> Void
    ) -> ManagerID {
        state.withLock { ($0.queue, $0.handler) = (queue, handler) }
        return ManagerID(1)
    }

    func closeManager(_ manager: ManagerID) {}

    func send(_ request: Request, from manager: ManagerID) {
        state.withLock { $0.requests.append(request) }
    }

    func ask(_ query: Query, from manager: ManagerID) -> Result<Reply, ServiceError> {
        .success(.system(SystemInfo()))
    }

    func callBack(_ manager: ManagerID, _ body: @escaping @Sendable () -> Void) {
        state.withLock { $0.queue }?.async(body)
    }

    /// Creates a peripheral manager of this service.
    func manager(delegate: (any CBPeripheralManagerDelegate)? = nil) -> CBPeripheralManager {
        ServiceLocator.$current.withValue(self) {
            CBPeripheralManager(delegate: delegate, queue: DispatchQueue(label: "scripted"))
        }
    }

    /// The requests so far.
    var requests: [Request] { state.withLock { $0.requests } }

    /// Lets tasks run until `condition` holds. Returns false if it does not hold for a long time.
    func runs(until condition: () -> Bool) async -> Bool {
        for _ in 0..<1_000_000 {
            if condition() { return true }
            await Task.yield()
        }
        return false
    }

    /// Delivers an event, and returns after the manager has handled it.
    func deliver(_ event: Event) {
        let (queue, handler) = state.withLock { ($0.queue, $0.handler) }
        let heard = DispatchSemaphore(value: 0)
        queue?.async {
            handler?(event)
            heard.signal()
        }
        heard.wait()
    }
}
