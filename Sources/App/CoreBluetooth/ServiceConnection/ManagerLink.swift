import Dispatch
import Foundation
import ServiceMessages
import Synchronization

/// A manager, as its connection to the service sees it.
protocol EventReceiver: AnyObject, Sendable {
    func receive(_ event: Event)
}

/// Runs code of an app, in which managers that are created belong to that app as well.
private struct AppContext: Sendable {
    let connection: any ServiceConnection
    /// Whether the connection is that of the process, and not of a simulated app or of a part of the program.
    private let isOfProcess = ServiceLocator.current == nil

    init(_ connection: any ServiceConnection) { self.connection = connection }

    /// Outside simulations, new managers find the connection of the process by themselves. Setting it would cost two
    /// allocations for each event.
    func run(_ body: () -> Void) {
        if isOfProcess, !ServiceLocator.isSimulating { return body() }
        ServiceLocator.$current.withValue(connection, operation: body)
    }
}

/// The connection of one manager to the service.
///
/// The manager and all objects that came from it send their requests through it. It is closed when the manager is
/// released; requests after that are dropped.
final class ManagerLink: Sendable {
    let connection: any ServiceConnection
    private let context: AppContext
    private let id: ManagerID
    private let isClosed = Atomic(false)
    private let pace: CallbackPace
    let channels = ChannelRegistry()

    /// Registers a manager. It receives its events on `queue`. This app's connection is the current one there, so that
    /// managers created in a callback belong to the same app.
    init(
        _ role: ManagerRole,
        options: ManagerOptions,
        queue: DispatchQueue,
        connection: any ServiceConnection,
        of manager: any EventReceiver
    ) {
        self.connection = connection
        let pace = CallbackPace(connection)
        let context = AppContext(connection)
        (self.pace, self.context) = (pace, context)
        id = connection.openManager(role, options: options, queue: AppQueue(queue)) { [channels, weak manager] event in
            if case .channel(let channel, let event) = event { return channels.receive(event, of: channel) }
            context.run {
                guard CallSites.isRecording else { return manager?.receive(event) ?? () }
                pace.measure { manager?.receive(event) }
            }
        }
        pace.follow(id)
        note(.managerCreated)
    }

    func send(_ request: CentralRequest) { send(.central(request)) }

    func send(_ request: PeerRequest, of peer: UUID) { send(.central(.peer(peer, request))) }

    func send(_ request: LinkRequest, of peer: UUID) { send(.link(request), of: peer) }

    func send(_ request: PeripheralRequest) { send(.peripheral(request)) }

    func send(_ request: ChannelRequest, on channel: ChannelID) { send(.channel(channel, request)) }

    /// Calls `callback` on the app's run loop, in the same context as the manager's events.
    func call(_ callback: @escaping @Sendable () -> Void, on queue: RunLoopQueue) {
        connection.call({ [context] in context.run(callback) }, on: queue)
    }

    /// Whether the app may block until its peer sends something.
    var canWait: Bool { connection.canWait }

    func send(_ request: Request) {
        guard !isClosed.load(ordering: .relaxed) else { return }
        guard let site = CallSites.present() else { return connection.send(request, from: id) }
        connection.send(request, from: id, at: site)
    }

    /// Calls `body` on the manager's queue, in order with its events.
    func callBack(_ body: @escaping @Sendable () -> Void) {
        connection.callBack(id) { [context] in context.run(body) }
    }

    /// Calls `body` on the manager's queue after a delay, by the clock of the service.
    ///
    /// - Returns: A function that cancels the call.
    func callBack(after delay: Duration, _ body: @escaping @Sendable () -> Void) -> @Sendable () -> Void {
        connection.callBack(id, after: delay) { [context] in context.run(body) }
    }

    func ask(_ query: Query) -> Result<Reply, ServiceError> {
        connection.ask(query, from: id)
    }

    /// Reports what the service cannot see, while something listens for advice.
    func note(_ note: @autoclosure () -> AppNote) {
        guard CallSites.isRecording, !isClosed.load(ordering: .relaxed) else { return }
        connection.note(note(), of: id, at: CallSites.present())
    }

    /// Ends the manager's scan, connections, services and channels (behaviour 13.6).
    func close() {
        guard !isClosed.exchange(true, ordering: .relaxed) else { return }
        connection.closeManager(id)
        channels.endAll()
    }
}

/// The app's end of a channel, as the connection to the service sees it.
protocol ChannelReceiver: AnyObject, Sendable {
    /// Handles an event of the channel, on any thread.
    func receive(_ event: ChannelEvent)
}

/// The channels of one manager that the app holds, by their numbers at the service.
final class ChannelRegistry: Sendable {
    private struct Entry {
        weak var receiver: (any ChannelReceiver)?
    }

    private let entries = Mutex<[ChannelID: Entry]>([:])

    /// Adds a channel that was just opened. The registry does not retain it.
    func add(_ receiver: any ChannelReceiver, as id: ChannelID) {
        entries.withLock {
            $0 = $0.filter { $0.value.receiver != nil }
            $0[id] = Entry(receiver: receiver)
        }
    }

    /// Passes an event on to its channel, on any thread.
    func receive(_ event: ChannelEvent, of id: ChannelID) {
        entries.withLock { $0[id]?.receiver }?.receive(event)
    }

    /// Ends all channels, since the manager was released (behaviour 8.8).
    func endAll() {
        for receiver in entries.withLock({ $0.values.compactMap(\.receiver) }) { receiver.receive(.ended(nil)) }
    }
}
