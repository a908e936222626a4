import ATT
import BluetoothTypes
import DequeModule
import EventLoops
import Foundation
import GAP
import GATT
import HCI
import HCIHost
import L2CAP
import SMP
import Security
import ServiceMessages

/// A link to a peer, shared by all managers that use it (behaviours 3.9, 3.10).
final class PeerLink {
    /// The maximum number of characteristics without a client configuration whose values are delivered.
    static let maximumListened = 256

    let link: AccessLink
    let peer: UUID
    unowned let host: any PeerLinkHost
    let client: GATTClient
    let operations = LinkOperations()
    var database = RemoteDatabase()
    /// The peer's services as far as they have been discovered. During a rediscovery, those discovered before.
    var services: Set<BluetoothUUID> = []
    /// Whether the peer's attribute table is cached with its bond rather than in memory.
    var tableIsBonded = false
    var subscriptions: [AttributeHandle: SubscriptionArbiter<ManagerKey>] = [:]
    var commands = Deque<(user: Attachment, handle: AttributeHandle, value: PacketBuffer)>()
    private(set) var users: [Attachment] = []
    /// Whether this side has requested the end of the link. No manager can join it any more.
    private(set) var isEnding = false

    /// Whether the system has finished preparing the link for use.
    private(set) var isReady = false
    let served: GATTServerSession?

    /// Opens L2CAP channels for managers.
    private(set) lazy var channelOpener = ChannelOpener(self)
    /// Reports the properties of the link to managers.
    private(set) lazy var reporter = LinkReporter(self)

    private let bearer: ATTBearer
    private var lingering: ScheduledTask?
    private var hasBegunExchange = false
    private var closure: ATTBearerClosure?
    /// Whether the peer is bonded and has no Service Changed characteristic, as far as that is known.
    private var lacksServiceChanged = false
    /// The flaws of the peer's attribute table, as far as it was discovered on this link.
    private(set) var flaws: [String] = []

    /// Takes over a link on which nothing has been received yet.
    init(_ link: AccessLink, peer: UUID, host: any PeerLinkHost) {
        self.link = link
        self.peer = peer
        self.host = host
        let attributes = link.openAttributes(
            mtu: host.configuration.preferredMTU,
            server: host.attributeServer.server,
            enhanced: host.enhancedBearers
        )
        (bearer, client, served) = (attributes.bearer, attributes.client, attributes.session)
        if let served { host.attributeServer.attach(served, of: peer) }
        listen()
        followSecurity()
    }

    private func listen() {
        bearer.onMTUChange = { [weak self] in self?.mtuChanged($0) }
        bearer.onClose = { [weak self] in self?.bearerClosed($0) }
        link.attributes?.onEnhancedFailure = { [weak self] in self?.bearerClosed($0) }
        operations.width = { [weak client] in client?.bearers.count { $0.closure == nil } ?? 1 }
        operations.isOver = { [weak self] in self?.isOver ?? true }
        connection.onChange = { [weak self] in self?.reporter.linkChanged() }
        bearer.onCommandRoom = { [weak self] in self?.sendCommands() }
        client.onValue = { [weak self] handle, value, _ in self?.valueArrived(value, of: handle) }
        client.onServiceChanged = { [weak self] in self?.servicesChanged($0) }
        client.onFlaw = { [weak self] in self?.noticed($0) }
        // As central Apple's rules hold (behaviours 3.27, 3.29); as peripheral, all parameters that the specification
        // allows are accepted.
        if connection.role == .central {
            link.parameterPolicy = { [weak self] in
                let isInputDevice = self?.services.contains(HiddenServices.humanInterfaceDevice) ?? false
                let edition = self?.host.configuration.version.parameterEdition ?? .current
                let rules = AppleConnectionParameterRules(edition, allowsHumanInterfaceDevice: isInputDevice)
                guard !rules.accept($0) else { return true }
                self?.refused($0, by: rules)
                return false
            }
        }
        link.l2cap.onDiscard = { [weak self] in
            let fault = $0
            self?.host.observers.trouble("a packet from the peer was discarded: \(fault)", .detail)
        }
        link.onEnd = { [weak self] end in
            guard let self else { return }
            host.ended(self, end)
        }
    }

    /// Reports parameters that the peer requests against the rules, in the log and to observers that give advice.
    private func refused(_ parameters: ConnectionParameters, by rules: AppleConnectionParameterRules) {
        let explanation = rules.explanation(of: parameters)
        host.observers.trouble("refused parameters that \(label) requests: \(explanation)", .notice)
        let sign = Practice.parametersRefused(explanation: explanation)
        for user in users { host.observers.report(.practices, .practiced(sign), of: user.subject) }
    }

    /// Reports a flaw of the peer's attribute table, once on each link.
    func noticed(_ flaw: TableFlaw) {
        guard flaws.count < LinkFacts.maximumFlaws, !flaws.contains(flaw.description) else { return }
        flaws.append(flaw.description)
        host.observers.trouble("the attribute table of \(label) breaks a rule: \(flaw)", .notice)
        for user in users { reportFlaw(user, of: flaw.description) }
        reporter.linkChanged()
    }

    private func reportFlaw(_ user: Attachment, of flaw: String) {
        host.observers.report(.practices, .practiced(.flawedTable(flaw)), of: user.subject)
    }

    /// Reports once for each manager that the bonded peer cannot tell of changes of its services.
    ///
    /// Called when the services have been discovered, and when the peer has been bonded. The end of the link would be
    /// too late for managers that have left it before.
    private func checkForServiceChanged() {
        guard !lacksServiceChanged, secureLink.bond != nil, client.cache?.isForGood == true else { return }
        lacksServiceChanged = true
        for user in users { reportPractice(user) }
    }

    private func reportPractice(_ user: Attachment) {
        host.observers.report(.practices, .practiced(.noServiceChanged), of: user.subject)
    }

    /// The link's HCI connection.
    var connection: HCIConnection { link.connection }

    /// Whether the peer is a central, and the link is ready for use.
    var servesCentral: Bool { isReady && connection.role == .peripheral }

    /// The peer as a central, for the apps that publish services.
    var centralInfo: CentralInfo { CentralInfo(identifier: peer, maximumUpdateLength: maximumCommandLength) }

    /// The peer and the link, for observers.
    var subject: Observation.Subject { Observation.Subject(peer: peer, link: connection.handle) }

    /// The security state of the link, and the bond with the peer.
    var secureLink: SecureLink { link.secureLink }

    /// Whether procedures can no longer complete, because the attribute protocol or the whole link has ended.
    var isOver: Bool {
        !link.isOpen || closure != nil || bearer.closure != nil
            || client.bearers.contains { $0.closure?.isFailure == true }
    }

    /// The maximum length of a write without response: MTU - 3 octets (behaviour 5.7).
    var maximumCommandLength: Int { bearer.mtu - 3 }

    private func mtuChanged(_ mtu: Int) {
        for user in users { user.emit(.maximumWriteLengthChanged(mtu - 3)) }
        reporter.linkChanged()
        host.centralChanged(CentralInfo(identifier: peer, maximumUpdateLength: mtu - 3))
    }

    /// Ends the link if the attribute protocol has failed (behaviour 5.23).
    private func bearerClosed(_ closure: ATTBearerClosure) {
        // The first closure is the cause; later ones are consequences.
        self.closure = self.closure ?? closure
        if closure.isFailure { disconnect() }
    }
}

// MARK: - Users

extension PeerLink {
    /// Prepares the link before anything uses it. As central, the link to a bonded peer is encrypted, or the
    /// preparation fails (behaviour 6.11, AB-A10). On any other link, the preparation waits for the first packet of the
    /// peer (behaviour 3.41).
    func prepare(_ completion: @escaping (Result<Void, SecurityError>) -> Void) {
        secureLink.prepare { [weak self] result in
            guard let self, case .success = result else { return completion(result) }
            guard secureLink.manager.encryption == nil else { return ready(completion) }
            link.whenEstablished { [weak self] in self?.ready(completion) }
        }
    }

    private func ready(_ completion: (Result<Void, SecurityError>) -> Void) {
        isReady = true
        completion(.success(()))
    }

    /// Adds a manager, which is connected from then on (behaviour 3.9).
    func attach(_ user: Attachment, name: String?) {
        if let lingering { host.loop.cancel(lingering) }
        lingering = nil
        users.append(user)
        user.emit(.connected(name: name, maximumWriteWithoutResponse: maximumCommandLength))
        if lacksServiceChanged { reportPractice(user) }
        for flaw in flaws { reportFlaw(user, of: flaw) }
        beginExchange()
    }

    /// Replaces `user` by `new`.
    func replace(_ user: Attachment, by new: Attachment) {
        if let index = users.firstIndex(where: { $0 === user }) { users[index] = new }
    }

    /// Removes a manager. After the last one, a link that this side created ends (behaviours 3.10, 3.11).
    func detach(_ user: Attachment) {
        user.end()
        users.removeAll { $0 === user }
        commands.removeAll { $0.user === user }
        for handle in subscriptions.keys.sorted() { subscription(handle, .leave(user.key)) }
        endIfUnused()
    }

    /// Ends a link that has no users, at once or after the configured linger.
    func endIfUnused() {
        guard users.isEmpty, connection.role == .central, lingering == nil else { return }
        guard host.configuration.linger > .zero else { return disconnect() }
        lingering = host.loop.schedule(after: host.configuration.linger) { [weak self] in
            self?.lingering = nil
            self?.disconnect()
        }
    }

    func disconnect() {
        guard !isEnding else { return }
        isEnding = true
        link.terminate()
    }

    /// Called when the link has ended. Returns the managers that used it, which receive no outcomes of pending requests
    /// (behaviour 3.39).
    func close() -> [Attachment] {
        isEnding = true
        if let lingering { host.loop.cancel(lingering) }
        lingering = nil
        let left = users
        users = []
        for user in left { user.end() }
        operations.close()
        channelOpener.close()
        commands.removeAll()
        subscriptions = [:]
        keepCache()
        if let served { host.attributeServer.forget(served) }
        return left
    }

    /// The error that describes the end of the link to managers that did not request it.
    func error(for reason: HCIStatus) -> ServiceError {
        switch closure {
        case .requestTimeout, .indicationTimeout:
            ServiceError(.connectionTimeout, reason: "the peer did not answer within 30 seconds")
        case .tooManyRequests:
            ServiceError(.peripheralDisconnected, reason: "the peer flooded this host with requests")
        // Encryption comes first on a link to a bonded peer, so this time-out means that the peer did not answer it
        // (behaviour 6.13).
        case .linkLost, .local, nil:
            !isReady && reason == .linkLayerResponseTimeout
                ? ServiceError(SecurityError.encryptionTimedOut)
                : ServiceError(disconnection: reason, wasConnected: isReady)
        }
    }

    /// As peripheral, requests other connection parameters from the central: 0 for low latency to 2 for high
    /// (behaviour 7.47).
    func requestLatency(_ latency: Int) {
        let parameters =
            switch latency {
            case ...0: ConnectionParameters(intervalMinimum: 12, intervalMaximum: 12, latency: 0, timeout: 600)
            case 1: ConnectionParameters(intervalMinimum: 60, intervalMaximum: 84, latency: 0, timeout: 600)
            default: ConnectionParameters(intervalMinimum: 240, intervalMaximum: 288, latency: 2, timeout: 600)
            }
        link.updateParameters(parameters, by: .l2cap) { [weak self] result in
            self?.host.observers.trouble("the request for connection latency \(latency) ended: \(result)", .detail)
        }
    }

    /// Requests the connection parameters and PHY that a manager prefers. If the peer or the rules refuse, nothing
    /// changes and nothing is reported to the app.
    func prefer(_ preference: LinkPreference) {
        if let phy = preference.phy { link.prefer(phy: LEPHY(rawValue: UInt8(clamping: phy))) }
        guard preference.minimumInterval != nil || preference.maximumInterval != nil else { return }
        func units(_ microseconds: Int?, otherwise other: Int) -> UInt16 {
            UInt16(clamping: (microseconds ?? other) / 1_250)
        }
        let shortest = preference.minimumInterval ?? preference.maximumInterval ?? 0
        let parameters = ConnectionParameters(
            intervalMinimum: units(preference.minimumInterval, otherwise: shortest),
            intervalMaximum: max(units(preference.maximumInterval, otherwise: shortest), units(shortest, otherwise: 0)),
            latency: UInt16(clamping: preference.latency),
            timeout: UInt16(clamping: preference.supervisionTimeout / 10)
        )
        guard parameters.isLegal else {
            return host.observers.trouble("the preferred connection parameters are invalid: \(parameters)", .detail)
        }
        link.updateParameters(parameters) { [weak self] result in
            self?.host.observers.trouble("the request for preferred connection parameters ended: \(result)", .detail)
        }
    }
}

// MARK: - Initial exchange

extension PeerLink {
    /// Starts the exchange of MTU, Service Changed, services and name (behaviours 3.23, 3.24), before any request of an
    /// app.
    private func beginExchange() {
        guard !hasBegunExchange else { return }
        hasBegunExchange = true
        _ = operations.add { [weak self] done in
            guard let self else { return done() }
            client.exchangeMTU { _ in done() }
        }
        _ = operations.add { [weak self] done in
            guard let self else { return done() }
            adoptCache(done)
        }
        // Service Changed is enabled before the services are read, so that no change in between is missed (Core
        // Vol 3 Part G 7.1).
        _ = operations.add { [weak self] done in
            guard let self else { return done() }
            client.watchServices { _ in done() }
        }
        _ = operations.add { [weak self] done in
            guard let self else { return done() }
            loadServices { [weak self] _ in
                self?.checkForServiceChanged()
                done()
            }
        }
        _ = operations.add { [weak self] done in
            guard let self else { return done() }
            readName(done)
        }
        guard host.enhancedBearers != nil else { return }
        _ = operations.add { [weak self] done in
            guard let self else { return done() }
            client.announceEnhancedBearers { [weak self] bothCan in
                if bothCan { self?.link.attributes?.wantEnhancedBearers() }
                done()
            }
        }
    }

    private func readName(_ done: @escaping () -> Void) {
        client.readValue(of: GATTUUID.deviceName) { [weak self] result in
            defer { done() }
            guard let self, case .success(let value?) = result.map({ $0?.value }) else { return }
            let before = host.peers[peer]?.name
            let name = String(decoding: value, as: UTF8.self)
            host.peers.setName(name, of: peer)
            secureLink.name = name
            guard name != before else { return }
            for user in users { user.emit(.nameChanged(name)) }
        }
    }

    func servicesChanged(_ range: ClosedRange<AttributeHandle>) {
        operations.reportKnownOutcomes()
        database.invalidate(range)
        // The peer does not indicate a confirmed change again. The table is stored anew once it has been discovered.
        if let bond = secureLink.bond { host.peers.note(bond.identifier) { $0.cache = nil } }
        // Pending subscription requests fail (behaviour 15.11).
        for handle in subscriptions.keys.sorted() where range.contains(handle) {
            subscription(handle, .gone(.unknown(handle)))
        }
        for user in users {
            user.emit(.servicesModified(invalidated: user.invalidate(range)))
        }
    }
}

// MARK: - Pairing and bonding

extension PeerLink {
    /// Subscribes to security events of the link, and restores what the attribute protocol keeps for bonded peers.
    func followSecurity() {
        secureLink.identifier = BondIdentifier(peer)
        secureLink.name = host.peers[peer]?.name
        secureLink.onEvent = { [weak self] in self?.handle($0) }
        // After a refusal, or instead of a request that would be refused, the link is encrypted or the two devices
        // pair; only the user notices (behaviour 6.1).
        client.onInsufficientSecurity = { [weak self] refusal, done in
            guard let self else { return done(.untried) }
            // A central may refuse requests that this system makes on its own. Without an app it is still a stranger.
            secureLink.secure(after: refusal, isForApp: !users.isEmpty, completion: done)
        }
        client.outOfSyncPolicy = .repeatIfUnchanged
        if let record = secureLink.bond?.record { served?.restore(record) }
        // A bonded peer indicates a change as soon as the link is encrypted (Core Vol 3 Part G 7.1).
        client.serviceChanged = secureLink.bond?.cache?.serviceChanged
    }

    private func handle(_ event: SecureLink.Event) {
        switch event {
        case .changed(let security):
            host.observers.report(.links, .secured(security), of: subject)
            reporter.linkChanged()
        case .paired(let bond): if bond != nil { bonded() }
        case .bondLost: reportLostBond()
        case .failed(let error): reportSecurityFailure(of: error)
        }
    }

    /// Called when the peer has been bonded. Stores with the bond what the peer has configured so far.
    private func bonded() {
        checkForServiceChanged()
        guard let identifier = secureLink.bond?.identifier, let record = served?.record else { return }
        host.peers.note(identifier) { $0.record = record }
        reporter.linkChanged()
    }

    private func reportLostBond() {
        guard let bond = secureLink.bond else { return }
        let isAsked = secureLink.lostBonds == .asked && host.peers.canAskUser
        host.observers.report(.peerForgotUs(BondedPeer(bond), isAsked: isAsked))
    }

    private func reportSecurityFailure(of error: SecurityError) {
        switch error {
        case .pairing(let failure): host.observers.report(.pairingFailed(peer: label, failure))
        case .keysRefused:
            let isFull = secureLink.bond == nil && host.peers.isFull
            let reason = secureLink.keysRefusal.map { "\($0)" } ?? "\(error)"
            let full = "the maximum number of paired devices is reached; forget one that is not needed"
            host.observers.report(.bondNotKept(reason: isFull ? full : reason))
        default: break
        }
    }

    /// The peer's name for the user, or else its address.
    private var label: String { (host.peers[peer]?.name ?? secureLink.name)?.quotedName ?? "\(secureLink.peer)" }
}

// MARK: - Security errors

extension PeerLink {
    /// The error of a procedure. If the procedure waited for the link to be secured, the error is the reason why that
    /// failed, where the API has a code for it, or else the peer's refusal (behaviours 6.5, 6.6).
    func serviceError(_ error: GATTError) -> ServiceError {
        guard case .notSecured(_, let reason) = error else { return ServiceError(error) }
        return serviceError(reason, otherwise: ServiceError(error))
    }

    /// The same for other operations that waited for the link to be secured; `refusal` is the peer's refusal.
    func serviceError(_ reason: UnderlyingError, otherwise refusal: ServiceError) -> ServiceError {
        guard let security = reason.error as? SecurityError else { return refusal }
        switch security {
        case .pairing(.timedOut):
            return ServiceError(
                att: ATTStatus(rawValue: ATTErrorCode.insufficientEncryption.rawValue),
                reason: "\(security)",
                cause: refusal.cause
            )
        case .keysRefused where host.peers.isFull:
            return ServiceError(.tooManyLEPairedDevices, reason: "\(security)")
        case .peerLostKey, .encryptionTimedOut: return ServiceError(security)
        default: return refusal
        }
    }
}

// MARK: - Cached services of bonded peers

extension PeerLink {
    /// Adopts what was discovered on earlier connections with a bonded peer if its database is unchanged; nothing is
    /// then sent for it (behaviour 4.10). A peer without a database hash either indicates changes or never changes.
    func adoptCache(_ done: @escaping () -> Void) {
        let known = host.peers.knownTable(of: peer)
        guard let bond = secureLink.bond else {
            client.cache = known?.found ?? AttributeCache()
            if known?.found != nil { database.values = known?.values ?? [:] }
            return done()
        }
        tableIsBonded = true
        guard let cache = bond.cache else {
            client.cache = AttributeCache()
            return client.announce(.robustCaching) { [weak self] _ in
                self?.client.readDatabaseHash { _ in done() }
            }
        }
        guard cache.hash != nil else {
            client.cache = cache
            database.values = known?.values ?? [:]
            return done()
        }
        client.adopt(cache) { [weak self] in
            if case .success(true) = $0 { self?.database.values = known?.values ?? [:] }
            done()
        }
    }

    /// Stores the cached services: with the peer's bond, or in memory if the peer is not bonded and its services never
    /// change. After a pairing on this link nothing is stored; on the next connection the hash is read and the services
    /// are discovered again.
    func keepCache() {
        guard let cache = client.cache, cache.services != nil else { return }
        guard tableIsBonded, let bond = secureLink.bond else { return keepInMemory(cache) }
        host.peers.remember(KnownTable(values: database.values), of: peer)
        guard bond.cache != cache else { return }
        host.peers.note(bond.identifier) { $0.cache = cache }
    }

    private func keepInMemory(_ cache: AttributeCache) {
        guard secureLink.bond == nil, cache.isForGood, cache.count <= KnownTable.maximumAttributes else {
            host.peers.remember(nil, of: peer)
            return
        }
        host.peers.remember(KnownTable(found: cache, values: database.values), of: peer)
    }
}

// MARK: - Notifications of this system (ANCS)

extension PeerLink {
    /// Pairs the link for a peer that requires this system's notifications, and then decides whether it gets them
    /// (behaviour 3.19).
    func authorizeNotifications(for user: Attachment) {
        secureLink.pair { [weak self] result in
            guard let self else { return }
            let isPaired = if case .success = result { true } else { false }
            user.emit(.notificationsAuthorized(isPaired && host.configuration.sharesNotifications))
        }
    }
}
