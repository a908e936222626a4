import BluetoothTypes
import Cryptography

/// The security of one link: encryption with the key of a bond, Security Requests, pairing, and who waits for them
/// (Core Vol 3 Part H 2.4.4, 2.4.6). Events go in and actions come out; pairing itself is ``PairingMachine``'s.
struct SecurityMachine {
    /// Callers that may wait at once.
    static let maximumWaiters = 64

    /// A caller that waits, by a number that its owner knows it by.
    struct Waiter: Equatable {
        /// Nil for the peer's wish, which nobody waits for here.
        let number: Int?
        /// Nil for a pairing, whatever there is.
        let level: SecurityLevel?
    }

    enum Event {
        case wanted(Waiter)
        case received(PacketBuffer)
        case permitted(Bool)
        case answered(PairingAnswer)
        case encryption(EncryptionChangeReport)
        /// Whether the keys of the last pairing are kept, or need not be.
        case stored(Bool)
        case timeout
        case cancel
        /// A person, or a full store, has removed the bond.
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
        /// As central: encrypt the link with this key.
        case encrypt(EncryptionKey)
        case startTimer
        case stopTimer
        case store(PeerKeys, isBonding: Bool)
        case encryptionChanged
        case finish(Int, SecurityError?)
        case fail(SecurityError)
        /// Nothing is to be believed of the link any more, which is not encrypted for anybody here.
        case endLink
    }

    enum State: Equatable {
        case idle
        /// As peripheral: a Security Request has gone out.
        case awaitsCentral
        /// As central: the link is being encrypted with the bond's key.
        case encrypting
        case pairing
        /// The keys are being stored.
        case storing(PeerKeys, isBonding: Bool)
        /// The link is gone, or is to be.
        case ended
    }

    /// The key that the link is being encrypted with.
    enum PendingKey: Equatable {
        /// It counts if it is still kept when encryption comes on.
        case kept(Key128)
        case pairing
    }

    let role: PairingRole
    var pairing: PairingMachine
    /// What is kept of the peer at this moment. Looked up each time: a person may have removed it, and another link to the
    /// same peer may have put a better key there or used up a number.
    var bond: () -> PeerKeys? = { nil }
    /// The keys of a pairing that nobody keeps. They live as long as the link.
    var linkKeys: PeerKeys?
    var state = State.idle
    var encryption: KeyLevel?
    /// Whether the key in use is one that is kept, or comes of a pairing that has come to its end on this link.
    var isProven = false
    /// Whether the key in use comes of a pairing that has not come to its end.
    var isTentative = false
    /// The key that the peer has said on this link that it does not have. Its wishes are not heard any more then.
    var lostKey: EncryptionKey?
    var pending: PendingKey?
    var waiters: [Waiter] = []

    init(_ pairing: PairingMachine, linkKeys: PeerKeys?) {
        role = pairing.role
        self.pairing = pairing
        self.linkKeys = linkKeys
    }

    /// The keys that count on this link.
    var keys: PeerKeys? { linkKeys ?? bond() }

    /// The key for encryption in this role.
    var key: EncryptionKey? { keys.flatMap { role == .initiator ? $0.peerKey : $0.localKey } }

    mutating func handle(_ event: Event) -> [Action] {
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

    /// The key for the controller, which asks as peripheral with what the central has shown (2.4.4.2); nil when there
    /// is none. A pairing that has come to a key has this one alone, and a key of zeroes is none (AB-L06, CVE-2019-19194).
    mutating func longTermKey(random: UInt64, diversifier: UInt16) -> Key128? {
        guard role == .responder, state != .ended else { return nil }
        if let key = pairing.agreedKey {
            guard random == 0, diversifier == 0 else { return nil }
            return answer(key, .pairing)
        }
        // In the clear anybody can have begun the pairing; whoever is refused its key for that thinks it lost (AB-S09).
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

// MARK: - What is wanted

extension SecurityMachine {
    private mutating func wanted(_ waiter: Waiter) -> [Action] {
        if let level = waiter.level, level.isMet(by: encryption) { return finish([waiter], nil) }
        guard waiters.count < Self.maximumWaiters else { return finish([waiter], .notAllowed) }
        waiters.append(waiter)
        return state == .idle ? proceed() : []
    }

    /// What keeps a waiter from what it waits for, if a pairing is needed for that.
    private func obstacle(for waiter: Waiter) -> PairingObstacle? {
        guard !pairing.isDead else { return nil }
        let kept = keys?.level
        if let level = waiter.level, let kept, key != nil, encryption == nil, level.isMet(by: kept) { return nil }
        return pairing.obstacle(to: waiter.level ?? .encrypted, replacing: kept)
    }

    /// Begins what the waiters wait for. Those for whom nothing can be done hear so, and nothing is begun for them.
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
            // Before a better pairing too: who cannot show the bond's key does not get to replace it (AB-S09).
            state = .encrypting
            pending = .kept(key.key)
            return [.encrypt(key)]
        }
        return perform(pairing.handle(.start(demand)))
    }

    /// As peripheral (2.4.6).
    private mutating func requestSecurity() -> [Action] {
        guard !pairing.isDead else { return fail(.pairing(.timedOut)) }
        state = .awaitsCentral
        return [.send(.securityRequest(SecurityRequest(requestedRequirements))), .startTimer]
    }

    /// What a Security Request asks for: no more than the bond has where the bond is good enough for all waiters. A central pairs again
    /// instead of encrypting when the request exceeds its key (2.4.6), and a device without input and output then ends up with
    /// no encryption at all.
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

    /// What the next pairing has to lead to. What the peripheral wishes is asked for and not insisted on; what a caller
    /// here needs is, as central: there a pairing that is too weak had better not be.
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

    /// Tells the pairing machine what it needs to know before the peer can begin a pairing.
    private mutating func prepare() {
        guard !pairing.isUnderWay else { return }
        pairing.demand = demand
        pairing.isProven = isProven
    }

    /// The peripheral wants security (2.4.6).
    private mutating func requested(_ requirements: AuthenticationRequirements) -> [Action] {
        let hasLostKey = lostKey != nil && lostKey == key
        guard state == .idle, !hasLostKey else { return [] }
        guard key != nil || pairing.canPair else { return [.send(.failed(PairingFailed(.pairingNotSupported)))] }
        // What cannot be had with our own means is not tried for again at each connection.
        let wish = SecurityLevel(
            isAuthenticated: requirements.contains(.protection) && pairing.canProtect,
            isSecureConnections: requirements.contains(.secureConnections) && pairing.configuration.legacy != .only
        )
        let level = obstacle(for: Waiter(number: nil, level: wish)) == nil ? wish : .encrypted
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
            // The link is encrypted with a key that the two do not stand by.
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
        state = .idle
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
        // What the controller is doing comes to its end; nobody waits for it any more.
        let wasWaiting = state == .awaitsCentral
        if wasWaiting { state = .idle }
        return (wasWaiting ? [.stopTimer] : []) + dismiss(.cancelled)
    }
}

// MARK: - Ends

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
