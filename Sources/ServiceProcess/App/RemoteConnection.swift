import BluetoothService
import BluetoothTypes
import Dispatch
import EventLoops
import Foundation
import Logging
import Synchronization

/// The line of an app to a service in another process. A service that goes away is `.resetting` for its managers, and is looked for until
/// it is back; then they are opened anew, as they were.
package final class RemoteConnection: ServiceConnection {
    /// How long a question may wait for its answer.
    static let patience = DispatchTimeInterval.seconds(10)

    private struct Manager {
        let role: ManagerRole
        let options: ManagerOptions
        let outlet: EventOutlet
        /// It has been told something, by this service or one before it.
        var isKnown = false
        /// The number of events of this service that the app has been called with.
        var eventsRead: UInt64 = 0

        /// How it is opened.
        var currentOptions: ManagerOptions {
            var options = options
            options.isReopened = isKnown
            return options
        }
    }

    /// What other threads than the loop's touch.
    private struct Shared {
        var lastManager: UInt32 = 0
        var lastQuery: UInt32 = 0
        var managers: [ManagerID: Manager] = [:]
        var questions: [UInt32: Question] = [:]
        var outgoing: [PacketBuffer] = []
        /// Managers whose ``Manager/eventsRead`` the service does not know yet.
        var unreported: Set<ManagerID> = []
        /// Which service it is, counted from the first.
        var generation = 0
        var isOpen = false
        var isOnItsWay = true
    }

    private let loop: any EventLoop
    private let logger: Logger
    private let shared = Mutex(Shared())
    private let arrived = DispatchGroup()
    private let link: LoopBound<ServiceLink>

    /// Creates a connection to a service.
    ///
    /// - Parameters:
    ///   - isLaunched: Whether a service has launched this process.
    ///   - dialer: Makes the dialer; called on the loop.
    package init(
        hello: Hello,
        isLaunched: Bool = false,
        loop: any EventLoop,
        logger: Logger,
        dialer: @escaping @Sendable () -> any Dialer
    ) {
        (self.loop, self.logger) = (loop, logger)
        link = loop.make { ServiceLink(dialer(), hello: hello, isLaunched: isLaunched, loop: loop, logger: logger) }
        arrived.enter()
        loop.submit { [self] in
            link.value.onMessage = { [weak self] in self?.take($0) }
            link.value.onOpen = { [weak self] in self?.opened() }
            link.value.onLost = { [weak self] in self?.lost($0) }
            link.value.begin()
        }
    }

    deinit {
        if shared.withLock({ $0.isOnItsWay }) { arrived.leave() }
        let link = link
        link.loop.submit { link.value.close() }
    }

    /// Registers a manager.
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

    /// Ends everything that the manager has going on.
    package func closeManager(_ manager: ManagerID) {
        let closed = shared.withLock { shared in
            send(.closeManager(manager), &shared)
            return shared.managers.removeValue(forKey: manager)
        }
        closed?.outlet.close()
    }

    /// Sends a request; one that is made while there is no service is answered by the state that its manager is told.
    ///
    /// A list that is too long is refused here: the service would close the connection for it.
    package func send(_ request: Request, from manager: ManagerID) {
        if let error = request.listError { return refuse(request, error, from: manager) }
        shared.withLock { send(.request(manager, request), &$0) }
    }

    private func refuse(_ request: Request, _ error: ServiceError, from manager: ManagerID) {
        let text = "a request is refused: \(error.reason ?? "")"
        logger.error("\(text)")
        noteMisuse(text)
        guard let event = request.refusal(error), let outlet = shared.withLock({ $0.managers[manager]?.outlet }) else {
            return
        }
        loop.submit { [loop] in outlet.take(event, on: loop) }
    }

    /// Not in virtual time, where nothing comes while an app waits.
    package var canWait: Bool { !(loop is VirtualEventLoop) }

    /// Tells those who observe the service.
    package func noteMisuse(_ text: String) {
        shared.withLock { send(.misuse(text), &$0) }
    }

    /// Calls the app.
    package func callBack(_ manager: ManagerID, _ body: @escaping @Sendable () -> Void) {
        shared.withLock { $0.managers[manager]?.outlet }?.call(body)
    }

    private func send(_ message: AppMessage, _ shared: inout Shared) {
        guard shared.isOpen else { return }
        wake(&shared)
        shared.outgoing.append(message.encoded())
    }

    /// Wakes the loop, once for all that comes before it gets there.
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
        // What the app has read comes before what it asked for then.
        for count in counts { link.value.send(count.encoded()) }
        for message in messages { link.value.send(message) }
    }

    /// The app is about to be called with an event of a service.
    private func willRead(_ manager: ManagerID, generation: Int) {
        shared.withLock { shared in
            guard shared.isOpen, shared.generation == generation, shared.managers[manager] != nil else { return }
            wake(&shared)
            shared.managers[manager]?.eventsRead += 1
            shared.unreported.insert(manager)
        }
    }
}

// MARK: - Questions

extension RemoteConnection {
    /// A question that a thread waits with.
    fileprivate final class Question: Sendable {
        let reply = Mutex<Result<Reply, ServiceError>?>(nil)
        let semaphore = DispatchSemaphore(value: 0)

        func answer(_ result: Result<Reply, ServiceError>) {
            reply.withLock { $0 = result }
            semaphore.signal()
        }
    }

    /// Asks, and waits for the answer: not longer than ``patience``, and not at all where there is no service.
    package func ask(_ query: Query, from manager: ManagerID) -> Result<Reply, ServiceError> {
        if let error = query.listError { return .failure(error) }
        precondition(!loop.isCurrent, "a question cannot be waited for where its answer comes in")
        _ = arrived.wait(timeout: .now() + Self.patience)
        let question = Question()
        let number: UInt32? = shared.withLock { shared in
            guard shared.isOpen else { return nil }
            shared.lastQuery &+= 1
            shared.questions[shared.lastQuery] = question
            send(.query(manager, number: shared.lastQuery, query), &shared)
            return shared.lastQuery
        }
        guard let number else { return .failure(.noService) }
        _ = question.semaphore.wait(timeout: .now() + Self.patience)
        _ = shared.withLock { $0.questions.removeValue(forKey: number) }
        return question.reply.withLock { $0 } ?? .failure(.noService)
    }
}

// MARK: - On the loop

extension RemoteConnection {
    private func take(_ message: ServiceMessage) {
        switch message {
        case .event(let id, let event): take(event, of: id)
        case .reply(let number, let result):
            shared.withLock { $0.questions.removeValue(forKey: number) }?.answer(result)
        case .welcome, .goodbye: break
        }
    }

    private func take(_ event: Event, of id: ManagerID) {
        let (manager, generation) = shared.withLock { shared in
            shared.managers[id]?.isKnown = true
            return (shared.managers[id], shared.generation)
        }
        guard let manager else { return }
        guard manager.options.restoreIdentifier != nil else { return manager.outlet.take(event, on: loop) }
        manager.outlet.take(event, on: loop) { [weak self] in self?.willRead(id, generation: generation) }
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
                shared.outgoing = []
                shared.unreported = []
                shared.questions = [:]
            }
            return (shared.managers, shared.questions)
        }
        for question in questions.values { question.answer(.failure(.noService)) }
        for (_, manager) in managers.sorted(by: { $0.key.rawValue < $1.key.rawValue }) {
            manager.outlet.take(.stateChanged(state), on: loop)
        }
        isClear()
    }

    /// Whether there is a service is known from now on.
    private func isClear() {
        let isFirst = shared.withLock { shared in
            defer { shared.isOnItsWay = false }
            return shared.isOnItsWay
        }
        if isFirst { arrived.leave() }
    }
}

extension ServiceError {
    /// A question that nobody answers.
    fileprivate static let noService = ServiceError(
        .operationNotSupported,
        reason: "the Bluetooth service does not answer"
    )
}
