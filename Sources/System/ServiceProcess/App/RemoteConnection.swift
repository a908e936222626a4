import BluetoothTypes
import Dispatch
import EventLoops
import Foundation
import Logging
import ServiceMessages
import Synchronization

/// The connection of an app to a service in another process. When the service goes away, the managers are in the state
/// `.resetting` while the connection is retried; then they are opened again with their previous parameters.
package final class RemoteConnection: ServiceConnection {
    /// How long a query waits for its reply, and before that for the first attempt to reach a service.
    static let replyTimeout = DispatchTimeInterval.seconds(10)

    private struct Manager {
        let role: ManagerRole
        let options: ManagerOptions
        let outlet: EventOutlet
        /// Whether the manager has received an event, from this service or an earlier one.
        var isKnown = false
        /// The number of events of this service that were delivered to the app.
        var eventsRead: UInt64 = 0

        var currentOptions: ManagerOptions {
            var options = options
            options.isReopened = isKnown
            return options
        }
    }

    /// The state shared with threads other than the event loop's.
    private struct Shared {
        var lastManager: UInt32 = 0
        var lastQuery: UInt32 = 0
        var managers: [ManagerID: Manager] = [:]
        var questions: [UInt32: Question] = [:]
        var outgoing: [PacketBuffer] = []
        /// Managers whose ``Manager/eventsRead`` has not been reported to the service yet.
        var unreported: Set<ManagerID> = []
        /// The number of the current service process, counted from the first.
        var generation = 0
        var isOpen = false
        var isConnecting = true
        /// Records the places of calls while the service wants advice.
        var listening: CallSites.Listening?
    }

    private let loop: any EventLoop
    private let logger: Logger
    private let shared = Mutex(Shared())
    private let arrived = DispatchGroup()
    private let link: LoopBound<ServiceLink>
    private let places: PlaceFinder

    /// - Parameters:
    ///   - isLaunched: Whether a service has launched this process.
    ///   - places: Looks up places of this process, on other threads.
    ///   - dialer: Creates the dialer; called on the event loop.
    package init(
        hello: Hello,
        isLaunched: Bool = false,
        loop: any EventLoop,
        logger: Logger,
        places: @escaping PlaceFinder.Search = PlaceFinder.ofProgram,
        dialer: @escaping @Sendable () -> any Dialer
    ) {
        (self.loop, self.logger) = (loop, logger)
        self.places = PlaceFinder(places)
        link = loop.make { ServiceLink(dialer(), hello: hello, isLaunched: isLaunched, loop: loop, logger: logger) }
        arrived.enter()
        loop.submit { [self] in
            link.value.onMessage = { [weak self] in self?.receive($0) }
            link.value.onOpen = { [weak self] in self?.opened() }
            link.value.onLost = { [weak self] in self?.lost($0) }
            link.value.begin()
        }
    }

    deinit {
        if shared.withLock({ $0.isConnecting }) { arrived.leave() }
        let link = link
        link.loop.submit { link.value.close() }
    }

    /// Registers a manager, and opens it once there is a service.
    package func openManager(
        _ role: ManagerRole,
        options: ManagerOptions,
        queue: any CallbackQueue,
        handler: @escaping @Sendable (Event) -> Void
    ) -> ManagerID {
        let outlet = EventOutlet(queue: queue, handler: handler)
        return shared.withLock { shared in
            shared.lastManager += 1
            let id = ManagerID(shared.lastManager)
            shared.managers[id] = Manager(role: role, options: options, outlet: outlet)
            send(.openManager(id, role, options), &shared)
            return id
        }
    }

    package func closeManager(_ manager: ManagerID) {
        let closed = shared.withLock { shared in
            send(.closeManager(manager), &shared)
            return shared.managers.removeValue(forKey: manager)
        }
        closed?.outlet.close()
    }

    /// Sends a request. Without a service the request is dropped; the state of the manager tells the app.
    ///
    /// A list that is too long is refused here, because the service would close the connection.
    package func send(_ request: Request, from manager: ManagerID) { send(request, from: manager, nil) }

    /// Sends a request like ``send(_:from:)``, with its place if the service wants it.
    package func send(_ request: Request, from manager: ManagerID, at site: CallSite) {
        send(request, from: manager, site)
    }

    private func send(_ request: Request, from manager: ManagerID, _ site: CallSite?) {
        if let error = request.listError { return refuse(request, error, from: manager) }
        shared.withLock { send(.request(manager, request), at: site, &$0) }
    }

    private func refuse(_ request: Request, _ error: ServiceError, from manager: ManagerID) {
        let text = "a request is refused: \(error.reason ?? "")"
        logger.error("\(text)")
        noteMisuse(text)
        guard let event = request.refusal(error), let outlet = shared.withLock({ $0.managers[manager]?.outlet }) else {
            return
        }
        loop.submit { [loop] in outlet.accept(event, on: loop) }
    }

    /// Whether a caller may block. Not in virtual time, which does not advance while an app waits.
    package var canWait: Bool { !(loop is VirtualEventLoop) }

    package func noteMisuse(_ text: String) {
        shared.withLock { send(.misuse(text), &$0) }
    }

    /// Reports misuse like ``noteMisuse(_:)``, with its place if the service wants it.
    package func noteMisuse(_ text: String, at site: CallSite) {
        shared.withLock { send(.misuse(text), at: site, &$0) }
    }

    /// Reports what the service cannot see, if it wants advice.
    package func note(_ note: AppNote, of manager: ManagerID, at site: CallSite?) {
        shared.withLock { shared in
            if shared.listening != nil { send(.note(manager, note), at: site, &shared) }
        }
    }

    package func callBack(_ manager: ManagerID, _ body: @escaping @Sendable () -> Void) {
        shared.withLock { $0.managers[manager]?.outlet }?.call(body)
    }

    private func send(_ message: AppMessage, at site: CallSite?, _ shared: inout Shared) {
        if let site, shared.listening != nil { send(.callSite(site.number), &shared) }
        send(message, &shared)
    }

    private func send(_ message: AppMessage, _ shared: inout Shared) {
        guard shared.isOpen else { return }
        wake(&shared)
        shared.outgoing.append(message.encoded())
    }

    /// Schedules a flush, once for all messages that are added before it runs.
    private func wake(_ shared: inout Shared) {
        guard shared.outgoing.isEmpty, shared.unreported.isEmpty else { return }
        loop.submit { [weak self] in self?.flush() }
    }

    private func flush() {
        let (counts, messages) = shared.withLock { shared in
            defer {
                shared.outgoing.removeAll(keepingCapacity: shared.outgoing.count < 1_024)
                shared.unreported = []
            }
            let counts = shared.unreported.sorted { $0.rawValue < $1.rawValue }.compactMap { id in
                shared.managers[id].map { AppMessage.eventsRead(id, count: $0.eventsRead) }
            }
            return (counts, shared.outgoing)
        }
        // Read counts go first, because the app read those events before it made the requests.
        for count in counts { link.value.send(count.encoded()) }
        for message in messages { link.value.send(message) }
    }

    /// Counts an event of a service that is about to be delivered to the app.
    private func willRead(_ manager: ManagerID, generation: Int) {
        shared.withLock { shared in
            guard shared.isOpen, shared.generation == generation, shared.managers[manager] != nil else { return }
            wake(&shared)
            shared.managers[manager]?.eventsRead += 1
            shared.unreported.insert(manager)
        }
    }
}

// MARK: - Queries

extension RemoteConnection {
    /// A query whose caller is blocked until the reply.
    fileprivate final class Question: Sendable {
        let reply = Mutex<Result<Reply, ServiceError>?>(nil)
        let semaphore = DispatchSemaphore(value: 0)

        func answer(_ result: Result<Reply, ServiceError>) {
            reply.withLock { $0 = result }
            semaphore.signal()
        }
    }

    /// Sends a query and blocks until the reply. Waits up to ``replyTimeout`` for the first attempt to reach a service, and
    /// up to ``replyTimeout`` for the reply. After that, fails at once while there is no service.
    package func ask(_ query: Query, from manager: ManagerID) -> Result<Reply, ServiceError> {
        if let error = query.listError { return .failure(error) }
        precondition(!loop.isCurrent, "a query must not block the event loop that delivers its reply")
        _ = arrived.wait(timeout: .now() + Self.replyTimeout)
        let question = Question()
        let number: UInt32? = shared.withLock { shared in
            guard shared.isOpen else { return nil }
            shared.lastQuery &+= 1
            shared.questions[shared.lastQuery] = question
            send(.query(manager, number: shared.lastQuery, query), &shared)
            return shared.lastQuery
        }
        guard let number else { return .failure(.noService) }
        _ = question.semaphore.wait(timeout: .now() + Self.replyTimeout)
        _ = shared.withLock { $0.questions.removeValue(forKey: number) }
        return question.reply.withLock { $0 } ?? .failure(.noService)
    }
}

// MARK: - On the event loop

extension RemoteConnection {
    private func receive(_ message: ServiceMessage) {
        switch message {
        case .event(let id, let event): receive(event, of: id)
        case .reply(let number, let result):
            shared.withLock { $0.questions.removeValue(forKey: number) }?.answer(result)
        case .adviceWanted(let isWanted):
            shared.withLock { $0.listening = isWanted ? $0.listening ?? CallSites.Listening() : nil }
        case .placeWanted(let number):
            places.find(number) { [weak self] number, text in
                guard let self else { return }
                shared.withLock { self.send(.place(number, text), &$0) }
            }
        case .welcome, .goodbye: break
        }
    }

    private func receive(_ event: Event, of id: ManagerID) {
        let (manager, generation) = shared.withLock { shared in
            shared.managers[id]?.isKnown = true
            return (shared.managers[id], shared.generation)
        }
        guard let manager else { return }
        guard manager.options.restoreIdentifier != nil else { return manager.outlet.accept(event, on: loop) }
        manager.outlet.accept(event, on: loop) { [weak self] in self?.willRead(id, generation: generation) }
    }

    private func opened() {
        let managers = shared.withLock { shared in
            shared.isOpen = true
            shared.generation += 1
            for id in shared.managers.keys { shared.managers[id]?.eventsRead = 0 }
            return shared.managers
        }
        for (id, manager) in managers.sorted(by: { $0.key.rawValue < $1.key.rawValue }) {
            link.value.send(AppMessage.openManager(id, manager.role, manager.currentOptions).encoded())
        }
        isClear()
    }

    private func lost(_ state: ManagerState) {
        let (managers, questions) = shared.withLock { shared in
            defer {
                shared.isOpen = false
                shared.listening = nil
                shared.outgoing = []
                shared.unreported = []
                shared.questions = [:]
            }
            return (shared.managers, shared.questions)
        }
        for question in questions.values { question.answer(.failure(.noService)) }
        for (_, manager) in managers.sorted(by: { $0.key.rawValue < $1.key.rawValue }) {
            manager.outlet.accept(.stateChanged(state), on: loop)
        }
        isClear()
    }

    /// Called when it is known whether there is a service.
    private func isClear() {
        let isFirst = shared.withLock { shared in
            defer { shared.isConnecting = false }
            return shared.isConnecting
        }
        if isFirst { arrived.leave() }
    }
}

extension ServiceError {
    fileprivate static let noService = ServiceError(
        .operationNotSupported,
        reason: "the Bluetooth service does not answer"
    )
}
