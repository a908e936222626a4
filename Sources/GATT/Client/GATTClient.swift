import ATT
import BluetoothTypes
import DequeModule
import L2CAP

/// The client of one peer's server.
///
/// Procedures start in the order in which they were asked for; with one bearer each waits for the one before (behaviour
/// 5.22), with several each takes the first that is free and keeps it. Each ends with exactly one call of its
/// completion, also when its bearer is closed. Writes without response and incoming values do not wait for them.
///
/// A procedure that the server refuses because the link is not secure enough is held while the owner does something about
/// it, and then repeated once (behaviour 6.1); others go on meanwhile. Nothing is asked of a bonded peer, and no value taken
/// from it, before the link is encrypted (AB-A10).
package final class GATTClient {
    /// Most services of a peer.
    package static let maximumServices = 256
    /// Most services that one service includes.
    package static let maximumIncludes = 64
    /// Most characteristics of a service, and most values found by their type.
    package static let maximumCharacteristics = 512
    /// Most descriptors of a characteristic.
    package static let maximumDescriptors = 64
    /// Most procedures that wait.
    package static let maximumWaitingProcedures = 256

    /// How a value arrived.
    package enum Arrival: Sendable {
        /// Notified, which nobody confirms.
        case notification
        /// Indicated, and confirmed.
        case indication
    }

    /// The peer's first bearer: the one on the fixed channel.
    package let bearer: ATTBearer
    /// The bearers that procedures may use, the first one first.
    package private(set) var bearers: [ATTBearer] = []
    /// Takes each value that the server sends by itself, except Service Changed. Whether anybody asked for it is for
    /// the owner to know.
    package var onValue: ((_ handle: UInt16, _ value: PacketBuffer, Arrival) -> Void)?
    /// Called with the handles of which nothing may be believed any more.
    package var onServiceChanged: ((ClosedRange<UInt16>) -> Void)?
    /// What has been found, when it is to be kept: discovery then goes on the air only for what is not in here. Nil at
    /// first: nothing is kept.
    package var cache: AttributeCache?
    /// What becomes of a request that the server refuses because this client holds old handles.
    package var outOfSyncPolicy = OutOfSyncPolicy.fail
    /// Where the peer's Service Changed is. Set by ``watchServices(completion:)``, or by an owner who remembers it.
    package var serviceChanged: UInt16?

    /// The security of the link, kept up to date by the owner. What has arrived before a change is judged by what held then
    /// too.
    package var security: LinkSecurity {
        get { securities.now }
        set {
            guard newValue != security else { return }
            securities.change(to: newValue, at: bearer.moment)
            securityChanged()
        }
    }
    /// What the link has to be before anything is asked of the peer, and any value taken from it. A peer that there is a key
    /// for asks for encryption at least.
    package var requirement = SecurityLevel.none {
        didSet { if requirement != oldValue { securityChanged() } }
    }
    /// Called when the link is not secure enough: for a request that the server refused, which is held meanwhile, or for all
    /// that is to be asked of the peer, when ``requirement`` is not met. The owner secures the link and says how that ended,
    /// once, also when the link is lost meanwhile: then what was held is repeated once, or fails for the first reason and that
    /// of the outcome. Without it everything fails at once.
    package var onInsufficientSecurity: ((ATTErrorCode, _ done: @escaping (SecuringOutcome) -> Void) -> Void)?
    /// Signs a message with twelve octets, and uses up a value of the counter; nil when there is no key to do it with.
    package var sign: ((_ message: PacketBuffer) -> PacketBuffer?)?

    private(set) var securities = SecurityHistory(LinkSecurity())
    private var waiting = Deque<WaitingProcedure>()
    /// Those that were held and go first.
    private var repeated = Deque<WaitingProcedure>()
    var holding = HeldProcedures()
    var wish = SecurityWish.none
    private var running: [(bearer: ATTBearer, isolation: GATTIsolation)] = []
    private var isStarting = false
    var configurationDescriptors: [UInt16: UInt16] = [:]
    /// How often the peer's database has changed.
    var changes: UInt64 = 0
    var recovery = Recovery.none

    /// A client on `bearer`, whose client callbacks it takes over.
    package init(bearer: ATTBearer) {
        self.bearer = bearer
        add(bearer)
    }

    /// Lets procedures use one more bearer of the same link, whose client callbacks the client takes over. Call
    /// ``remove(_:)`` when it is closed.
    package func add(_ bearer: ATTBearer) {
        bearers.append(bearer)
        bearer.onNotification = { [weak self] in self?.receiveNotification($0, $1, $2) }
        bearer.onIndication = { [weak self] in self?.receiveIndication($0, $1, $2) }
        bearer.onClientClose = { [weak self] in self?.bearerClosed($0) }
        startNext()
    }

    /// One of several bearers is closed. The procedure that was under way on it has failed.
    package func remove(_ bearer: ATTBearer) {
        bearers.removeAll { $0 === bearer }
        bearer.onNotification = nil
        bearer.onIndication = nil
        bearer.onClientClose = nil
        startNext()
    }

    var isClosed: Bool { bearers.allSatisfy { $0.closure != nil } }

    /// Adds a procedure to the queue.
    ///
    /// - Parameter attempt: why it has been refused before.
    func run<P: GATTProcedure>(
        _ procedure: P,
        attempt: GATTAttempt = GATTAttempt(),
        completion: @escaping (Result<P.Output, GATTError>) -> Void
    ) {
        let count = waiting.count + repeated.count + holding.count
        guard attempt.goesFirst || count < Self.maximumWaitingProcedures else {
            return completion(.failure(.queueFull))
        }
        let start = { [self] (bearer: ATTBearer) in
            RunningProcedure(procedure, bearer) { [self] result, moment in
                running.removeAll { $0.bearer === bearer }
                if lostItsBearer(result, attempt), P.onlyReads {
                    repeatOnFirstBearer(procedure, attempt, completion)
                } else {
                    finish(procedure, attempt, result, since: moment, completion)
                }
                startNext()
            }.start()
        }
        let fail = { (error: GATTError) in completion(.failure(error)) }
        let next = WaitingProcedure(
            isolation: procedure.isolation,
            needsFirstBearer: attempt.hasLostBearer,
            start: start,
            fail: fail
        )
        if attempt.goesFirst { repeated.append(next) } else { waiting.append(next) }
        startNext()
    }

    /// Starts procedures as long as they end at once, without going deeper each time.
    func startNext() {
        guard !isStarting else { return }
        isStarting = true
        while let next = repeated.first ?? waiting.first, mayStart, let bearer = freeBearer(for: next) {
            if repeated.isEmpty { waiting.removeFirst() } else { repeated.removeFirst() }
            running.append((bearer, next.isolation(bearer.mtu)))
            next.start(bearer)
        }
        isStarting = false
        if !isClosed, !(repeated.isEmpty && waiting.isEmpty), let cause = refusal { askForSecurity(cause) }
    }

    /// Whether the link is good enough for what is to start. When it has just become better than it was for those that are
    /// held, these are to go first.
    private var mayStart: Bool {
        isClosed || refusal == nil && (!repeated.isEmpty || holding.mayOvertake(at: security))
    }

    /// Everything that waits fails.
    func failWaiting(_ error: GATTError) {
        let failing = repeated + waiting
        repeated = []
        waiting = []
        for procedure in failing { procedure.fail(error) }
    }

    /// Where a procedure can begin now. With no bearer left it begins on the first one, to fail there.
    private func freeBearer(for next: WaitingProcedure) -> ATTBearer? {
        let usable = next.needsFirstBearer ? [bearer] : bearers
        let open = usable.filter { $0.closure == nil }
        let isFree = { [running] (bearer: ATTBearer) in !running.contains { $0.bearer === bearer } }
        guard let bearer = open.first(where: isFree) ?? (open.isEmpty && isFree(bearer) ? bearer : nil) else {
            return nil
        }
        switch next.isolation(bearer.mtu) {
        case .alone: return running.isEmpty ? bearer : nil
        case .preparesWrites: return running.allSatisfy { $0.isolation == .none } ? bearer : nil
        case .none: return running.contains { $0.isolation == .alone } ? nil : bearer
        }
    }
}

// MARK: - Bearers that are lost

extension GATTClient {
    /// Whether a procedure failed for the loss of its bearer, while the one on the fixed channel is there.
    private func lostItsBearer<T>(_ result: Result<T, GATTError>, _ attempt: GATTAttempt) -> Bool {
        guard case .failure(.bearer(.closed(.linkLost))) = result, !attempt.hasLostBearer else { return false }
        return bearer.closure == nil
    }

    /// Begins a procedure anew on the bearer that lasts as long as the link, and so no third time: that a peer closes an
    /// enhanced bearer is no failure of what was read there.
    private func repeatOnFirstBearer<P: GATTProcedure>(
        _ procedure: P,
        _ attempt: GATTAttempt,
        _ completion: @escaping (Result<P.Output, GATTError>) -> Void
    ) {
        var attempt = attempt
        attempt.hasLostBearer = true
        run(procedure, attempt: attempt, completion: completion)
    }
}

/// A procedure that waits for a bearer.
private struct WaitingProcedure {
    let isolation: (_ mtu: Int) -> GATTIsolation
    let needsFirstBearer: Bool
    let start: (ATTBearer) -> Void
    let fail: (GATTError) -> Void
}

/// What has become of a procedure before.
struct GATTAttempt {
    /// It has been refused because this client held old handles.
    var isInSync = false
    /// It has been refused because the link was not secure enough.
    var isSecured = false
    /// It was under way on an enhanced bearer that the peer closed.
    var hasLostBearer = false

    /// Whether it has had its turn already.
    var goesFirst: Bool { isSecured || hasLostBearer }
}

/// A procedure on its way.
private final class RunningProcedure<P: GATTProcedure> {
    private var procedure: P
    private let bearer: ATTBearer
    private let completion: (Result<P.Output, GATTError>, LinkMoment) -> Void
    // When the first of its answers began to arrive.
    private var moment: LinkMoment?

    init(_ procedure: P, _ bearer: ATTBearer, completion: @escaping (Result<P.Output, GATTError>, LinkMoment) -> Void) {
        self.procedure = procedure
        self.bearer = bearer
        self.completion = completion
    }

    private func end(_ result: Result<P.Output, GATTError>) {
        completion(result, moment ?? bearer.moment)
    }

    func start() {
        follow(procedure.begin(mtu: bearer.mtu))
    }

    private func follow(_ step: GATTStep<P.Output>) {
        switch step {
        case .finished(let output): end(.success(output))
        case .failed(let error): end(.failure(error))
        case .request(let pdu):
            bearer.request(pdu) { [self] result, moment in
                self.moment = self.moment ?? moment
                switch result {
                case .success(let response): follow(procedure.handle(response, mtu: bearer.mtu))
                case .failure(.response(let error)): follow(procedure.handle(error, mtu: bearer.mtu))
                case .failure(let error): end(.failure(GATTError(error)))
                }
            }
        }
    }
}

// MARK: - Values that the server sends

extension GATTClient {
    /// Asks to be told of a characteristic's value, or not any more: by notifications when it has them, else by
    /// indications (behaviour 5.16).
    ///
    /// - Parameter descriptor: where the Client Characteristic Configuration is, when that is remembered; else it is
    ///   looked for once.
    package func setNotifying(
        _ isNotifying: Bool,
        _ characteristic: RemoteCharacteristic,
        descriptor: UInt16? = nil,
        completion: @escaping (Result<Void, GATTError>) -> Void
    ) {
        let choice: ClientConfiguration
        if characteristic.properties.contains(.notify) {
            choice = .notify
        } else if characteristic.properties.contains(.indicate) {
            choice = .indicate
        } else {
            return completion(.failure(.noClientConfiguration))
        }
        let procedure = SubscriptionProcedure(
            characteristic,
            isNotifying ? choice : [],
            descriptor: descriptor ?? configurationDescriptors[characteristic.value]
        )
        let before = changes
        run(procedure) { [weak self] result in
            // What was found before a change is forgotten with it.
            if let self, changes == before, case .success(let descriptor) = result {
                configurationDescriptors[characteristic.value] = descriptor
            }
            completion(result.map { _ in })
        }
    }

    /// Asks to be told of changes to the server's database.
    ///
    /// - Parameter completion: false when the server has no Service Changed, so that what is found stays for good.
    package func watchServices(completion: @escaping (Result<Bool, GATTError>) -> Void) {
        discoverService(GATTUUID.genericAttribute) { [weak self] result in
            guard let self, case .success(let service?) = result else {
                return completion(result.map { _ in false })
            }
            // All of them, and so from the cache the next time (behaviour 4.10).
            discoverCharacteristics(of: service) { [weak self] result in
                guard let self, case .success(let found) = result,
                    let characteristic = found.first(where: { $0.uuid == GATTUUID.serviceChanged })
                else { return completion(result.map { _ in false }) }
                watch(characteristic, completion)
            }
        }
    }

    private func watch(
        _ characteristic: RemoteCharacteristic,
        _ completion: @escaping (Result<Bool, GATTError>) -> Void
    ) {
        serviceChanged = characteristic.value
        discoverDescriptors(of: characteristic) { [weak self] result in
            guard let self, case .success(let found) = result else { return completion(result.map { _ in false }) }
            let descriptor = found.first { $0.uuid == GATTUUID.clientConfiguration }?.handle
            setNotifying(true, characteristic, descriptor: descriptor) { completion($0.map { true }) }
        }
    }

    /// What comes before the link is secure enough is dropped (Core Vol 3 Part C 10.3.2.2).
    private func receiveNotification(_ handle: UInt16, _ value: PacketBuffer, _ moment: LinkMoment) {
        guard refusal(since: moment) == nil else { return }
        onValue?(handle, value, .notification)
    }

    /// The same for indications, which are confirmed already. A change of the database is believed whoever tells it: that
    /// costs a discovery, while one that was confirmed and dropped is never told again.
    private func receiveIndication(_ handle: UInt16, _ value: PacketBuffer, _ moment: LinkMoment) {
        guard handle == serviceChanged else {
            guard refusal(since: moment) == nil else { return }
            onValue?(handle, value, .indication)
            return
        }
        guard value.count == 4 else { return }
        let start = UInt16(value[0]) | UInt16(value[1]) << 8
        let end = UInt16(value[2]) | UInt16(value[3]) << 8
        // A range that makes no sense may mean anything, so it means everything.
        let handles = start > 0 && start <= end ? start...end : 1...UInt16.max
        forget(handles)
        showAwareness()
    }

    /// On a link with several bearers that a change was confirmed tells a server nothing: it holds values back until the hash
    /// was read, and another request came after that (Core Vol 3 Part G 2.5.2.1). Here this is done at once, since an app
    /// that only waits for values would wait for good.
    private func showAwareness() {
        guard bearers.count > 1 else { return }
        run(DatabaseHashProcedure()) { [weak self] _ in self?.run(DatabaseHashProcedure()) { _ in } }
    }
}
