import ATT
import BluetoothTypes
import DequeModule
import L2CAP

/// A GATT client of one peer's server.
///
/// Procedures start in the order of the calls. With one bearer, each waits for the one before (behaviour 5.22); with
/// several, each runs on the first free bearer. Each procedure calls its completion exactly once, even if its bearer
/// closes. Writes without response and incoming values do not wait for procedures.
///
/// If the server refuses a procedure because the link is not secure enough, the procedure is held while the owner
/// secures the link, and is then retried once (behaviour 6.1). Other procedures continue meanwhile. Before the link to
/// a bonded peer is encrypted, the client sends no requests and accepts no values (AB-A10).
package final class GATTClient {
    package static let maximumServices = 256
    package static let maximumIncludes = 64
    /// The maximum number of characteristics of a service, and of values found by type.
    package static let maximumCharacteristics = 512
    package static let maximumDescriptors = 64
    package static let maximumWaitingProcedures = 256

    /// The way in which a value arrived.
    package enum Arrival: Sendable {
        case notification
        /// As an indication, already confirmed.
        case indication
    }

    /// The peer's first bearer, on the fixed channel.
    package let bearer: ATTBearer
    /// The bearers available to procedures, the first one first.
    package private(set) var bearers: [ATTBearer] = []
    /// Called with each value that the server sends, except Service Changed. The client does not check for a
    /// subscription.
    package var onValue: ((_ handle: UInt16, _ value: PacketBuffer, Arrival) -> Void)?
    package var onServiceChanged: ((ClosedRange<UInt16>) -> Void)?
    /// Called once with each rule that the server's table breaks, and that discovery has worked around (AB-A08).
    package var onFlaw: ((TableFlaw) -> Void)?
    /// The cache of discovered attributes. Discovery sends requests only for what it lacks. Nil, the default, disables
    /// caching.
    package var cache: AttributeCache?
    package var outOfSyncPolicy = OutOfSyncPolicy.fail
    /// The handle of the peer's Service Changed value. Set by ``watchServices(completion:)``, or by an owner that has
    /// stored it.
    package var serviceChanged: UInt16?

    /// The security of the link. Data that arrived before its last change is also judged by the security at that time.
    package var linkSecurity: LinkSecurity { bearer.history.linkSecurity }
    /// The security that the link must have before the client sends requests or accepts values. A peer with a stored
    /// key always requires encryption.
    package var requirement = SecurityLevel.none {
        didSet { if requirement != oldValue { linkSecurityChanged() } }
    }
    /// Called when the link is not secure enough: either for a request that the server refused, which is held
    /// meanwhile, or for all pending requests when ``requirement`` is not met.
    ///
    /// The owner secures the link and reports the outcome by calling `done` exactly once, even if the link is lost.
    /// What was held is then retried once, or fails with the original error and the reason from the outcome. Without a
    /// handler everything fails at once.
    package var onInsufficientSecurity: ((ATTErrorCode, _ done: @escaping (SecuringOutcome) -> Void) -> Void)?
    /// Signs a message with a signature of twelve octets and advances the sign counter. Returns nil if there is no
    /// signing key.
    package var sign: ((_ message: PacketBuffer) -> PacketBuffer?)?

    private var waiting = Deque<WaitingProcedure>()
    /// Procedures to retry, which precede those in `waiting`.
    private var repeated = Deque<WaitingProcedure>()
    private var holding = HeldProcedures()
    private var securityRequest: SecurityRequestState = []
    private var running: [(bearer: ATTBearer, isolation: GATTIsolation)] = []
    private var isStarting = false
    private var descriptors = ConfigurationDescriptors()
    /// Set while the hash is being read after Database Out Of Sync. The handlers retry or fail the refused procedures.
    private var recovery: [(_ isUnchanged: Bool) -> Void]?
    private var flaws = TableFlaws()

    /// Creates a client on `bearer` and replaces the bearer's client callbacks.
    package init(bearer: ATTBearer) {
        self.bearer = bearer
        add(bearer)
    }

    /// Adds a bearer of the same link for procedures to use, and replaces its client callbacks. Call ``remove(_:)``
    /// when it has closed.
    package func add(_ bearer: ATTBearer) {
        bearers.append(bearer)
        bearer.onNotification = { [weak self] in self?.receiveNotification($0, $1, $2) }
        bearer.onIndication = { [weak self] in self?.receiveIndication($0, $1, $2) }
        bearer.onClientClose = { [weak self] in self?.bearerClosed($0) }
        startNext()
    }

    /// Removes a closed bearer. The procedure that was running on it has already failed.
    package func remove(_ bearer: ATTBearer) {
        bearers.removeAll { $0 === bearer }
        bearer.onNotification = nil
        bearer.onIndication = nil
        bearer.onClientClose = nil
        startNext()
    }

    /// The number of database changes so far. What was discovered during a change may predate it (AB-A11).
    package var databaseChanges: UInt64 { descriptors.changes }

    package var tableFlaws: [TableFlaw] { flaws.all }

    var isClosed: Bool { bearers.allSatisfy { $0.closure != nil } }

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
            RunningProcedure(procedure, bearer) { [self] result, moment, flaws in
                running.removeAll { $0.bearer === bearer }
                if case .success = result, refusal(since: moment) == nil { report(flaws) }
                if lostItsBearer(result, attempt), P.onlyReads {
                    retry(procedure, attempt, with: \.hasLostBearer, completion)
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

    private func report(_ found: TableFlaws) {
        for flaw in found.all where flaws.insert(flaw) { onFlaw?(flaw) }
    }

    /// Starts as many procedures as possible. Procedures that complete at once do not recurse into this method.
    private func startNext() {
        guard !isStarting else { return }
        isStarting = true
        while let next = repeated.first ?? waiting.first, mayStart, let bearer = freeBearer(for: next) {
            if repeated.isEmpty { waiting.removeFirst() } else { repeated.removeFirst() }
            running.append((bearer, next.isolation(bearer.mtu)))
            next.start(bearer)
        }
        isStarting = false
        assert(brokenInvariant == nil, brokenInvariant ?? "")
        if !isClosed, !(repeated.isEmpty && waiting.isEmpty), let cause = refusal { askForSecurity(cause) }
    }

    private var brokenInvariant: String? {
        let bearers = running.map { ObjectIdentifier($0.bearer) }
        guard Set(bearers).count == bearers.count else { return "two procedures run on one bearer" }
        guard running.count == 1 || !running.contains(where: { $0.isolation == .alone }) else {
            return "a procedure runs beside one that has to run alone"
        }
        guard running.count(where: { $0.isolation == .preparesWrites }) <= 1 else {
            return "two procedures prepare writes at once"
        }
        return waiting.count <= Self.maximumWaitingProcedures ? nil : "too many procedures wait"
    }

    /// Whether the link is secure enough to start a procedure. If the link has just become more secure, the held
    /// procedures go first.
    private var mayStart: Bool {
        isClosed || refusal == nil && (!repeated.isEmpty || holding.mayOvertake(at: linkSecurity))
    }

    private func failWaiting(_ error: GATTError) {
        let failing = repeated + waiting
        repeated = []
        waiting = []
        for procedure in failing { procedure.fail(error) }
    }

    /// The bearer on which a procedure can start now. If all bearers are closed, it is the first one, where the
    /// procedure fails.
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

// MARK: - Lost bearers

extension GATTClient {
    /// Whether a procedure failed because its bearer closed while the bearer on the fixed channel is still open.
    ///
    /// It is restarted there. That bearer lasts as long as the link, so there is at most one restart. The read does not
    /// fail just because the peer closed an enhanced bearer.
    private func lostItsBearer<T>(_ result: Result<T, GATTError>, _ attempt: GATTAttempt) -> Bool {
        guard case .failure(.bearer(.closed(.linkLost))) = result, !attempt.hasLostBearer else { return false }
        return bearer.closure == nil
    }

    /// Runs a procedure again, and adds the reason to the history of its attempts.
    private func retry<P: GATTProcedure>(
        _ procedure: P,
        _ attempt: GATTAttempt,
        with reason: WritableKeyPath<GATTAttempt, Bool>,
        _ completion: @escaping (Result<P.Output, GATTError>) -> Void
    ) {
        var attempt = attempt
        attempt[keyPath: reason] = true
        run(procedure, attempt: attempt, completion: completion)
    }
}

// MARK: - Notifications and indications

extension GATTClient {
    /// Subscribes to or unsubscribes from a characteristic's value: by notifications if it supports them, else by
    /// indications (behaviour 5.16).
    ///
    /// - Parameter descriptor: The handle of the Client Characteristic Configuration descriptor if it is known.
    ///   Otherwise the descriptor is discovered once.
    package func setNotifying(
        _ isNotifying: Bool,
        _ characteristic: DiscoveredCharacteristic,
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
            descriptor: descriptor ?? descriptors[characteristic.value]
        )
        let before = databaseChanges
        run(procedure) { [weak self] result in
            if case .success(let descriptor) = result {
                self?.descriptors.learn(descriptor, of: characteristic.value, since: before)
            }
            completion(result.map { _ in })
        }
    }

    /// Subscribes to changes of the server's database. Completes with whether the server has Service Changed. If false,
    /// discovered attributes remain valid for good.
    package func watchServices(completion: @escaping (Result<Bool, GATTError>) -> Void) {
        discoverService(GATTUUID.genericAttribute) { [weak self] result in
            guard let self, case .success(let service?) = result else {
                return completion(result.map { _ in false })
            }
            // Discovers all characteristics, so that the next discovery is answered from the cache (behaviour 4.10).
            discoverCharacteristics(of: service) { [weak self] result in
                guard let self, case .success(let found) = result,
                    let characteristic = found.first(where: { $0.uuid == GATTUUID.serviceChanged })
                else { return completion(result.map { _ in false }) }
                watch(characteristic, completion)
            }
        }
    }

    private func watch(
        _ characteristic: DiscoveredCharacteristic,
        _ completion: @escaping (Result<Bool, GATTError>) -> Void
    ) {
        serviceChanged = characteristic.value
        discoverDescriptors(of: characteristic) { [weak self] result in
            guard let self, case .success(let found) = result else { return completion(result.map { _ in false }) }
            let descriptor = found.first { $0.uuid == GATTUUID.clientConfiguration }?.handle
            setNotifying(true, characteristic, descriptor: descriptor) { completion($0.map { true }) }
        }
    }

    /// Delivers a notification, or drops it if the link was not secure enough (Core Vol 3 Part C 10.3.2.2).
    private func receiveNotification(_ handle: UInt16, _ value: PacketBuffer, _ moment: LinkMoment) {
        guard refusal(since: moment) == nil else { return }
        onValue?(handle, value, .notification)
    }

    /// Delivers an indication, which is already confirmed, or drops it if the link was not secure enough.
    ///
    /// Service Changed is accepted from any peer: a false one costs a discovery, but a true one that was confirmed and
    /// dropped would never be repeated.
    private func receiveIndication(_ handle: UInt16, _ value: PacketBuffer, _ moment: LinkMoment) {
        guard handle == serviceChanged else {
            guard refusal(since: moment) == nil else { return }
            onValue?(handle, value, .indication)
            return
        }
        guard value.count == 4 else { return }
        let start = UInt16(value[0]) | UInt16(value[1]) << 8
        let end = UInt16(value[2]) | UInt16(value[3]) << 8
        // An invalid range is treated as the whole database.
        let handles = start > 0 && start <= end ? start...end : 1...UInt16.max
        forget(handles)
        showAwareness()
    }

    /// Reads the Database Hash twice to become change-aware on a link with several bearers.
    ///
    /// There, confirming Service Changed is not enough: the server holds values back until the hash was read and
    /// another request has followed (Core Vol 3 Part G 2.5.2.1). Without this, an app that only waits for values would
    /// wait forever.
    private func showAwareness() {
        guard bearers.count > 1 else { return }
        run(DatabaseHashProcedure()) { [weak self] _ in self?.run(DatabaseHashProcedure()) { _ in } }
    }
}

// MARK: - Insufficient security

extension GATTClient {
    /// The reason why no request may be sent and no value accepted now; nil if both are allowed. A peer with a stored
    /// key is trusted only on an encrypted link (AB-A10).
    var refusal: ATTErrorCode? { refusal(over: linkSecurity) }

    /// The reason why data that began to arrive at `moment` is not trusted; nil if it is. Data that began to arrive in
    /// the clear is not a value of the encrypted link (AB-A09, AB-A10).
    private func refusal(since moment: LinkMoment) -> ATTErrorCode? {
        refusal(over: bearer.history.linkSecurity(since: moment))
    }

    private func refusal(over linkSecurity: LinkSecurity) -> ATTErrorCode? {
        if linkSecurity.hasKey, !linkSecurity.isEncrypted { return .insufficientEncryption }
        return linkSecurity.attributeRefusal(of: requirement)
    }

    /// Handles the end of one attempt, whose first response began to arrive at `moment`: completes the procedure, holds
    /// it or retries it.
    private func finish<P: GATTProcedure>(
        _ procedure: P,
        _ attempt: GATTAttempt,
        _ result: Result<P.Output, GATTError>,
        since moment: LinkMoment,
        _ completion: @escaping (Result<P.Output, GATTError>) -> Void
    ) {
        switch result {
        case .failure(.att(let error)) where error.code == .databaseOutOfSync && !attempt.isInSync:
            refuse(procedure, attempt, completion)
        case .failure(.att(let error)) where error.code.isInsufficientSecurity:
            hold(procedure, attempt, for: error.code, .att(error), completion)
        case .success:
            // A key for the peer has become known meanwhile, so the response needs a secure link, which may exist by
            // now.
            guard let cause = refusal(since: moment) else { return completion(result) }
            guard refusal != nil || attempt.isSecured else {
                return retry(procedure, attempt, with: \.isSecured, completion)
            }
            hold(procedure, attempt, for: cause, .insufficientSecurity(cause), completion)
        case .failure: completion(result)
        }
    }

    /// Holds a refused procedure while the owner secures the link, then retries it once (behaviour 6.1).
    private func hold<P: GATTProcedure>(
        _ procedure: P,
        _ attempt: GATTAttempt,
        for cause: ATTErrorCode,
        _ error: GATTError,
        _ completion: @escaping (Result<P.Output, GATTError>) -> Void
    ) {
        guard let onInsufficientSecurity, !attempt.isSecured, !isClosed else { return completion(.failure(error)) }
        let number = holding.add(at: linkSecurity) { completion(.failure($0)) }
        onInsufficientSecurity(cause) { [self] outcome in
            guard holding.remove(number) else { return }
            if outcome == .secured {
                retry(procedure, attempt, with: \.isSecured, completion)
            } else {
                completion(.failure(error.after(outcome)))
            }
            startNext()
        }
    }

    /// Asks the owner to secure the link, once for everything that waits.
    private func askForSecurity(_ cause: ATTErrorCode) {
        guard !securityRequest.contains(.asked) else { return }
        guard let onInsufficientSecurity else { return failWaiting(.insufficientSecurity(cause)) }
        securityRequest.insert(.asked)
        onInsufficientSecurity(cause) { [self] outcome in
            guard securityRequest.remove(.asked) != nil else { return }
            // The owner may have accepted less security than required.
            if outcome != .secured || refusal != nil { failWaiting(.insufficientSecurity(cause).after(outcome)) }
            startNext()
        }
    }

    /// Whether the link is secure enough for a command. If not, asks the owner to secure it, and
    /// ``ATTBearer/onCommandRoom`` is called once it is.
    func mayCommand() -> Bool {
        guard let refusal, !isClosed else { return true }
        securityRequest.insert(.commandsWait)
        askForSecurity(refusal)
        return false
    }

    /// Called by the owner when ``linkSecurity`` has changed: starts what the link is secure enough for now.
    package func linkSecurityChanged() {
        startNext()
        if refusal == nil, securityRequest.remove(.commandsWait) != nil { bearer.onCommandRoom?() }
    }

    /// Fails the held procedures once the last bearer has closed.
    private func bearerClosed(_ closure: ATTBearerClosure) {
        guard isClosed else { return }
        for fail in holding.removeAll() { fail(.bearer(.closed(closure))) }
        startNext()
    }
}

// MARK: - Database Out Of Sync

extension GATTClient {
    /// The way to handle a request that the server refuses with Database Out Of Sync.
    package enum OutOfSyncPolicy: Sendable {
        /// The request fails, and everything known about the database is discarded.
        case fail
        /// The request is retried if the Database Hash shows that nothing has changed since ``GATTClient/cache`` was
        /// filled. Otherwise it fails.
        case repeatIfUnchanged
    }

    /// Handles the refusal of a procedure with Database Out Of Sync by reading the Database Hash, once for all
    /// procedures that are refused together.
    ///
    /// The hash shows whether the database has changed, and reading it makes the client change-aware again (Core Vol 3
    /// Part G 2.5.2.1).
    private func refuse<P: GATTProcedure>(
        _ procedure: P,
        _ attempt: GATTAttempt,
        _ completion: @escaping (Result<P.Output, GATTError>) -> Void
    ) {
        guard outOfSyncPolicy == .repeatIfUnchanged, let hash = cache?.hash else {
            recover(expecting: nil, [])
            return completion(.failure(.databaseOutOfSync))
        }
        let waiter = { [self] (isUnchanged: Bool) in
            guard isUnchanged else { return completion(.failure(.databaseOutOfSync)) }
            retry(procedure, attempt, with: \.isInSync, completion)
        }
        recover(expecting: hash, [waiter])
    }

    private func recover(expecting hash: DatabaseHash?, _ waiters: [(_ isUnchanged: Bool) -> Void]) {
        guard recovery == nil else {
            recovery?.append(contentsOf: waiters)
            return
        }
        recovery = waiters
        if hash == nil { forget(1...UInt16.max) }
        run(DatabaseHashProcedure(), attempt: GATTAttempt(isInSync: true)) { [self] result in
            recovered(from: hash, to: (try? result.get()) ?? nil)
        }
    }

    private func recovered(from hash: DatabaseHash?, to now: DatabaseHash?) {
        guard let waiters = recovery else { return }
        recovery = nil
        let isUnchanged = hash != nil && now == hash
        if hash != nil, !isUnchanged { forget(1...UInt16.max) }
        cache?.hash = now
        for waiter in waiters { waiter(isUnchanged) }
    }

    private func forget(_ handles: ClosedRange<UInt16>) {
        descriptors.databaseChanged(handles)
        cache?.invalidate(handles)
        onServiceChanged?(handles)
    }
}
