import BluetoothTypes
import Cryptography

/// The state machine for the security of one link: encryption with the bond's key, Security Requests, pairing, and the
/// callers that wait for them (Core Vol 3 Part H 2.4.4, 2.4.6).
///
/// Events go in and actions come out. ``PairingMachine`` implements the pairing itself.
struct SecurityMachine {
    static let maximumWaiters = 64

    /// A caller that waits for security, or a request by the peer.
    struct Waiter: Equatable {
        /// The number by which the owner identifies the caller; nil for a request by the peer, which no local caller
        /// waits for.
        let number: Int?
        /// The required level; nil to pair whatever keys there are.
        let level: SecurityLevel?
    }

    enum Event {
        case wanted(Waiter)
        case received(PacketBuffer)
        case permitted(Bool)
        case answered(PairingAnswer)
        case encryption(EncryptionChangeReport)
        /// Whether the keys of the last pairing were stored, or need not be.
        case stored(Bool)
        case timeout
        case cancel
        /// The user removed the bond, or a full store evicted it.
        case forgotten
        case linkLost
    }

    enum Action: Equatable {
        case send(SMPCommand)
        case askPermission
        case ask(PairingPrompt)
        case closePrompt
        case peerPressedKey(KeypressNotification.Kind)
        case usedOwnData
        /// Encrypt the link with this key, as central.
        case encrypt(EncryptionKey)
        case startTimer
        case stopTimer
        case store(PeerKeys, isBonding: Bool)
        case encryptionChanged
        case finish(Int, SecurityError?)
        case fail(SecurityError)
        /// End the link, which is no longer trusted and counts as unencrypted.
        case endLink
    }

    enum State: Equatable {
        case idle
        /// A Security Request was sent, as peripheral.
        case awaitsCentral
        /// The link is being encrypted with the bond's key, as central.
        case encrypting
        case pairing
        case storing(PeerKeys, isBonding: Bool)
        /// The link is closed, or about to be.
        case ended
    }

    /// The key that the link is being encrypted with.
    enum PendingKey: Equatable {
        /// A bond's key, which is valid only if it is still stored when encryption is turned on.
        case kept(Key128)
        case pairing
    }

    let role: PairingRole
    var pairing: PairingMachine
    /// Returns the keys currently stored for the peer. They are looked up each time, because the user may have removed
    /// them, or another link to the same peer may have replaced a key or used a signature counter.
    var bond: () -> PeerKeys? = { nil }
    /// The keys of a pairing that is not stored. They last as long as the link.
    var linkKeys: PeerKeys?
    var state = State.idle
    var encryption: KeyLevel?
    /// Whether the key in use is a stored one, or comes from a pairing that completed on this link.
    var isProven = false
    /// Whether the key in use comes from a pairing that has not completed.
    var isTentative = false
    /// The key that the peer reported missing on this link. While it is the current key, Security Requests are ignored.
    var lostKey: EncryptionKey?
    var pending: PendingKey?
    var waiters: [Waiter] = []

    init(_ pairing: PairingMachine, linkKeys: PeerKeys?) {
        role = pairing.role
        self.pairing = pairing
        self.linkKeys = linkKeys
    }

    var keys: PeerKeys? { linkKeys ?? bond() }

    var key: EncryptionKey? { keys.flatMap { role == .initiator ? $0.peerKey : $0.localKey } }

    var brokenInvariant: String? {
        guard waiters.count <= Self.maximumWaiters + 1 else { return "too many callers wait" }
        guard state != .ended || waiters.isEmpty else { return "callers wait for a link that has ended" }
        guard state != .idle || !pairing.isUnderWay else { return "a pairing is in progress that nothing waits for" }
        guard state != .pairing || pairing.isUnderWay else { return "the machine waits for a pairing that has ended" }
        return encryption != nil || !isTentative ? nil : "the key of an unencrypted link is tentative"
    }

    mutating func handle(_ event: Event) -> [Action] {
        defer { assert(brokenInvariant == nil, brokenInvariant ?? "") }
        if case .ended = state { return ended(event) }
        switch event {
        case .wanted(let waiter): return wanted(waiter)
        case .received(let payload):
            prepare()
            return perform(pairing.handle(.received(payload)))
        case .permitted(let isPermitted): return perform(pairing.handle(.permitted(isPermitted)))
        case .answered(let answer):
            let actions = pairing.handle(.answered(answer))
            return perform(actions, reason: answer == .refuse ? .refusedByPerson : nil)
        case .encryption(let report): return changed(report)
        case .stored(let isStored): return stored(isStored)
        case .timeout: return timedOut()
        case .cancel: return cancel()
        case .forgotten: return giveUp(.forgotten)
        case .linkLost: return lost()
        }
    }

    private func ended(_ event: Event) -> [Action] {
        guard case .wanted(let waiter) = event, let number = waiter.number else { return [] }
        return [.finish(number, .linkLost)]
    }

    /// Returns the key that the controller, as peripheral, requests with the values that the central sent (2.4.4.2);
    /// nil if there is none.
    ///
    /// Once a pairing has agreed on a key, that key is the only valid one. An all-zero key is never valid (AB-L06,
    /// CVE-2019-19194).
    mutating func longTermKey(random: UInt64, diversifier: UInt16) -> Key128? {
        guard role == .responder, state != .ended else { return nil }
        if let key = pairing.agreedKey {
            guard random == 0, diversifier == 0 else { return nil }
            return answer(key, .pairing)
        }
        // On an unencrypted link an attacker may have started the pairing. If the bond's key were refused because of
        // that, the real peer would consider it lost (AB-S09).
        guard !pairing.isUnderWay || encryption == nil else { return nil }
        guard let key, key.random == random, key.diversifier == diversifier else { return nil }
        return answer(key.key, .kept(key.key))
    }

    private mutating func answer(_ key: Key128, _ use: PendingKey) -> Key128? {
        guard key != .zero else { return nil }
        pending = use
        return key
    }
}

// MARK: - Requests for security

extension SecurityMachine {
    private mutating func wanted(_ waiter: Waiter) -> [Action] {
        if let level = waiter.level, level.isMet(by: encryption) { return finish([waiter], nil) }
        guard waiters.count < Self.maximumWaiters else { return finish([waiter], .notAllowed) }
        waiters.append(waiter)
        return state == .idle ? proceed() : []
    }

    /// Returns the obstacle for a waiter that needs a pairing; nil if there is none or no pairing is needed.
    private func obstacle(for waiter: Waiter) -> PairingObstacle? {
        guard !pairing.isDead else { return nil }
        let kept = keys?.level
        if let level = waiter.level, let kept, key != nil, encryption == nil, level.isMet(by: kept) { return nil }
        return pairing.obstacle(to: waiter.level ?? .encrypted, replacing: kept)
    }

    /// Starts the procedure that the waiters need. Waiters that face an obstacle fail, and nothing is started for them.
    mutating func proceed() -> [Action] {
        let all = waiters.map { ($0, obstacle(for: $0)) }
        waiters = all.compactMap { $1 == nil ? $0 : nil }
        let hopeless = all.flatMap { waiter, obstacle in obstacle.map { finish([waiter], .cannotPair($0)) } ?? [] }
        return hopeless + begin()
    }

    private mutating func begin() -> [Action] {
        guard !waiters.isEmpty else { return [] }
        guard role == .initiator else { return requestSecurity() }
        if encryption == nil, let key, waiters.contains(where: { $0.level != nil }) {
            // This precedes a pairing for a better key as well: a peer that cannot prove it has the bond's key must not
            // replace it (AB-S09).
            state = .encrypting
            pending = .kept(key.key)
            return [.encrypt(key)]
        }
        return perform(pairing.handle(.start(demand)))
    }

    /// Sends a Security Request, as peripheral (2.4.6).
    private mutating func requestSecurity() -> [Action] {
        guard !pairing.isDead else { return fail(.pairing(.timedOut)) }
        state = .awaitsCentral
        return [.send(.securityRequest(SecurityRequest(requestedRequirements))), .startTimer]
    }

    /// The requirements of a Security Request: no more than the bond provides, if the bond satisfies all waiters.
    ///
    /// A central pairs again instead of encrypting if the request exceeds its key (2.4.6). A device without input and
    /// output would then end up with no encryption at all.
    private var requestedRequirements: AuthenticationRequirements {
        var requirements = pairing.configuration.requirements(demand)
        guard !pairing.configuration.requiresProtection else { return requirements }
        if let kept = keys?.level, key != nil, waiters.allSatisfy({ $0.level?.isMet(by: kept) ?? false }) {
            if !kept.isAuthenticated { requirements.remove(.protection) }
            if !kept.isSecureConnections { requirements.remove(.secureConnections) }
        } else if !pairing.canProtect {
            requirements.remove(.protection)
        }
        return requirements
    }

    /// The minimum result of the next pairing.
    ///
    /// Protection that only the peripheral asked for is requested but not required. As central, the level that a local
    /// caller needs is required, because no pairing is better than one that is too weak.
    private var demand: PairingDemand {
        var demand = PairingDemand()
        for waiter in waiters {
            guard let level = waiter.level else { continue }
            demand.wantsProtection = demand.wantsProtection || level.isAuthenticated
            guard role == .initiator, waiter.number != nil else { continue }
            demand.level.isAuthenticated = demand.level.isAuthenticated || level.isAuthenticated
            demand.level.isSecureConnections = demand.level.isSecureConnections || level.isSecureConnections
            demand.level.minimumKeySize = max(demand.level.minimumKeySize, level.minimumKeySize)
        }
        demand.replaced = keys?.level
        return demand
    }

    /// Passes the current demand to the pairing machine before the peer can start a pairing.
    private mutating func prepare() {
        guard !pairing.isUnderWay else { return }
        pairing.demand = demand
        pairing.isProven = isProven
    }

    /// Handles a Security Request, as central (2.4.6).
    private mutating func requested(_ requirements: AuthenticationRequirements) -> [Action] {
        let hasLostKey = lostKey != nil && lostKey == key
        guard state == .idle, !hasLostKey else { return [] }
        guard key != nil || pairing.canPair else { return [.send(.failed(PairingFailed(.pairingNotSupported)))] }
        // Security that this device cannot provide is not attempted again on each connection.
        let request = SecurityLevel(
            isAuthenticated: requirements.contains(.protection) && pairing.canProtect,
            isSecureConnections: requirements.contains(.secureConnections) && pairing.configuration.legacy != .only
        )
        let level = obstacle(for: Waiter(number: nil, level: request)) == nil ? request : .encrypted
        guard !level.isMet(by: encryption) else { return [] }
        waiters.append(Waiter(number: nil, level: level))
        return proceed()
    }
}

// MARK: - Pairing

extension SecurityMachine {
    mutating func perform(_ actions: [PairingMachine.Action], reason: SecurityError? = nil) -> [Action] {
        let performed = actions.flatMap { perform($0, reason) }
        if pairing.isUnderWay, state == .idle || state == .awaitsCentral { state = .pairing }
        return performed
    }

    private mutating func perform(_ action: PairingMachine.Action, _ reason: SecurityError?) -> [Action] {
        switch action {
        case .send(let command): return [.send(command)]
        case .askPermission: return [.askPermission]
        case .ask(let prompt): return [.ask(prompt)]
        case .closePrompt: return [.closePrompt]
        case .startTimer: return [.startTimer]
        case .stopTimer: return [.stopTimer]
        case .peerPressedKey(let kind): return [.peerPressedKey(kind)]
        case .usedOwnData: return [.usedOwnData]
        case .securityRequested(let requirements): return requested(requirements)
        case .failedByPeer(let reason):
            guard state == .awaitsCentral else { return [] }
            state = .idle
            return [.stopTimer] + fail(.pairing(.refusedByPeer(reason)))
        case .encrypt(let key):
            guard role == .initiator else { return [] }
            pending = .pairing
            return [.encrypt(EncryptionKey(key: key))]
        case .completed(let result):
            pairing.context.peerData = nil
            state = .storing(result.keys, isBonding: result.isBonding)
            return [.store(result.keys, isBonding: result.isBonding)]
        case .failed(let error):
            let error = reason ?? Self.error(of: error)
            // The link is encrypted with a key that is not valid without the pairing.
            guard !isTentative else { return giveUp(error) }
            state = .idle
            return fail(error)
        }
    }

    private static func error(of error: PairingError) -> SecurityError {
        switch error {
        case .linkLost: .linkLost
        case .refused(.repeatedAttempts): .notAllowed
        default: .pairing(error)
        }
    }

    private mutating func stored(_ isStored: Bool) -> [Action] {
        guard case .storing(let new, let isBonding) = state else { return [] }
        // The peer may have begun another pairing in the meantime.
        state = pairing.isUnderWay ? .pairing : .idle
        guard isStored else { return [.send(.failed(PairingFailed(.keyRejected)))] + giveUp(.keysRefused) }
        linkKeys = isBonding ? nil : new
        isTentative = false
        isProven = true
        let rest = waiters
        waiters = []
        return rest.flatMap { waiter -> [Action] in
            guard let level = waiter.level, !level.isMet(by: encryption) else { return finish([waiter], nil) }
            return finish([waiter], .tooWeak)
        }
    }

    private mutating func timedOut() -> [Action] {
        if pairing.isUnderWay { return perform(pairing.handle(.timeout)) }
        guard state == .awaitsCentral else { return [] }
        state = .idle
        return fail(.pairing(.timedOut))
    }

    private mutating func cancel() -> [Action] {
        if pairing.isUnderWay {
            return perform(pairing.handle(.cancel(.unspecifiedReason)), reason: .cancelled)
        }
        // A procedure in the controller runs to its end; only its waiters are dismissed.
        let wasWaiting = state == .awaitsCentral
        if wasWaiting { state = .idle }
        return (wasWaiting ? [.stopTimer] : []) + dismiss(.cancelled)
    }
}

// MARK: - Completion

extension SecurityMachine {
    mutating func fail(_ error: SecurityError) -> [Action] { dismiss(error) + [.fail(error)] }

    mutating func dismiss(_ error: SecurityError) -> [Action] {
        let all = waiters
        waiters = []
        return finish(all, error)
    }

    func finish(_ waiters: [Waiter], _ error: SecurityError?) -> [Action] {
        waiters.compactMap { $0.number.map { .finish($0, error) } }
    }
}
