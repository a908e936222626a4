import BluetoothService
import Dispatch
import Foundation
import Synchronization

/// One manager's line to the service. The manager and everything that came from it send through it; when the manager is
/// gone it is closed, and what is sent after that goes nowhere.
final class ManagerLink: Sendable {
    private let connection: any ServiceConnection
    private let id: ManagerID
    private let isClosed = Atomic(false)
    /// The manager's channels.
    let channels = ChannelRegistry()

    /// Registers a manager. It receives its events on `queue`, with this app's connection as the current one, so that managers
    /// made in there belong to the same app.
    init(
        _ role: ManagerRole,
        options: ManagerOptions,
        queue: DispatchQueue,
        connection: any ServiceConnection,
        of manager: CBManager
    ) {
        self.connection = connection
        id = connection.openManager(role, options: options, queue: AppQueue(queue)) { [channels, weak manager] event in
            if case .channel(let channel, let event) = event { return channels.take(event, of: channel) }
            ServiceLocator.$current.withValue(connection) { manager?.receive(event) }
        }
    }

    func send(_ request: CentralRequest) { send(.central(request)) }

    func send(_ request: PeerRequest, of peer: UUID) { send(.central(.peer(peer, request))) }

    func send(_ request: LinkRequest, of peer: UUID) { send(.link(request), of: peer) }

    func send(_ request: PeripheralRequest) { send(.peripheral(request)) }

    func send(_ request: ChannelRequest, on channel: ChannelID) { send(.channel(channel, request)) }

    /// Calls the app back where its run loop is, as `receive` is called.
    func call(_ callback: @escaping @Sendable () -> Void, on queue: RunLoopQueue) {
        let connection = connection
        connection.call({ ServiceLocator.$current.withValue(connection, operation: callback) }, on: queue)
    }

    /// Whether the app may wait for its peer.
    var canWait: Bool { connection.canWait }

    private func send(_ request: Request) {
        guard !isClosed.load(ordering: .relaxed) else { return }
        connection.send(request, from: id)
    }

    /// Calls `body` on the manager's queue, as its events are.
    func callBack(_ body: @escaping @Sendable () -> Void) {
        connection.callBack(id) { [connection] in ServiceLocator.$current.withValue(connection, operation: body) }
    }

    /// Calls `body` on the manager's queue when `delay` has passed by the clock of the service, unless what it returns is called.
    func callBack(after delay: Duration, _ body: @escaping @Sendable () -> Void) -> @Sendable () -> Void {
        connection.callBack(id, after: delay) { [connection] in
            ServiceLocator.$current.withValue(connection, operation: body)
        }
    }

    func ask(_ query: Query) -> Result<Reply, ServiceError> {
        connection.ask(query, from: id)
    }

    /// Ends everything that the manager has going on.
    func close() {
        guard !isClosed.exchange(true, ordering: .relaxed) else { return }
        connection.closeManager(id)
        channels.endAll()
    }
}
