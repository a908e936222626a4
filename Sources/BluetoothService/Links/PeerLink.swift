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

/// A link to a peer, shared by all managers that use it (behaviours 3.9, 3.10).
final class PeerLink {
    let link: AccessLink
    let peer: UUID
    unowned let system: BluetoothSystem
    let client: GATTClient
    let operations = LinkOperations()
    /// Requests to open channels, one at a time: a failure does not identify its request (behaviour 8.5).
    let channelOpenings = LinkOperations()
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
    /// Pending requests for the signal strength, which one HCI command answers together, so that apps cannot fill the
    /// command queue that all links share (AB-G05).
    var strengthRequests: [(Result<Int, HCICommandError>) -> Void] = []
    /// The properties of the link that were last reported to the managers that watch it.
    var lastFacts: LinkFacts?

    /// Whether the system has finished preparing the link for use.
    private(set) var isReady = false
    let served: GATTServerSession?

    private let bearer: ATTBearer
    private var lingering: ScheduledTask?
    private var hasBegunExchange = false
    private var closure: ATTBearerClosure?

    /// Takes over a link on which nothing has been received yet.
    init(_ link: AccessLink, peer: UUID, system: BluetoothSystem) {
        self.link = link
        self.peer = peer
        self.system = system
        let attributes = link.openAttributes(
            mtu: system.configuration.preferredMTU,
            server: system.attributes.server,
            enhanced: system.enhancedBearers
        )
        (bearer, client, served) = (attributes.bearer, attributes.client, attributes.session)
        if let served { system.attributes.attach(served, of: peer) }
        listen()
        followSecurity()
    }

    private func listen() {
        bearer.onMTUChange = { [weak self] in self?.mtuChanged($0) }
        bearer.onClose = { [weak self] in self?.bearerClosed($0) }
        link.attributes?.onEnhancedFailure = { [weak self] in self?.bearerClosed($0) }
        operations.width = { [weak client] in client?.bearers.count { $0.closure == nil } ?? 1 }
        operations.isOver = { [weak self] in self?.isOver ?? true }
        connection.onChange = { [weak self] in self?.informationChanged() }
        bearer.onCommandRoom = { [weak self] in self?.sendCommands() }
        client.onValue = { [weak self] handle, value, _ in self?.valueArrived(value, of: handle) }
        client.onServiceChanged = { [weak self] in self?.servicesChanged($0) }
        // As central Apple's rules hold (behaviours 3.27, 3.29); as peripheral, all parameters that the specification
        // allows are accepted.
        if connection.role == .central {
            link.parameterPolicy = { [weak self] in
                let isInputDevice = self?.services.contains(HiddenServices.humanInterfaceDevice) ?? false
                let edition = self?.system.configuration.version.parameterEdition ?? .current
                let rules = AppleConnectionParameterRules(edition, allowsHumanInterfaceDevice: isInputDevice)
                return rules.accept($0)
            }
        }
        link.l2cap.onDiscard = { [weak self] in
            let fault = $0
            self?.system.trouble("a packet from the peer was discarded: \(fault)", .detail)
        }
        link.onEnd = { [weak self] end in
            guard let self else { return }
            system.ended(self, end)
        }
    }

    /// The link's HCI connection.
    var connection: HCIConnection { link.connection }

    /// Whether the peer is a central, and the link is ready for use.
    var servesCentral: Bool { isReady && connection.role == .peripheral }

    /// The peer and the link, for observers.
    var subject: Observation.Subject { Observation.Subject(peer: peer, link: connection.handle) }

    /// The security state of the link, and the bond with the peer.
    var secured: SecureLink { link.secureLink }

    /// Whether procedures can no longer complete, because the attribute protocol or the whole link has ended.
    var isOver: Bool {
        !link.isOpen || closure != nil || bearer.closure != nil
            || client.bearers.contains { $0.closure?.isFailure == true }
    }

    /// The maximum length of a write without response: MTU - 3 octets (behaviour 5.7).
    var maximumCommandLength: Int { bearer.mtu - 3 }

    private func mtuChanged(_ mtu: Int) {
        for user in users { user.emit(.maximumWriteLengthChanged(mtu - 3)) }
        informationChanged()
        system.centralChanged(CentralInfo(identifier: peer, maximumUpdateLength: mtu - 3))
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
        secured.prepare { [weak self] result in
            guard let self, case .success = result else { return completion(result) }
            guard secured.manager.encryption == nil else { return ready(completion) }
            link.whenEstablished { [weak self] in self?.ready(completion) }
        }
    }

    private func ready(_ completion: (Result<Void, SecurityError>) -> Void) {
        isReady = true
        completion(.success(()))
    }

    /// Adds a manager, which is connected from then on (behaviour 3.9).
    func attach(_ user: Attachment, name: String?) {
        if let lingering { system.loop.cancel(lingering) }
        lingering = nil
        users.append(user)
        user.emit(.connected(name: name, maximumWriteWithoutResponse: maximumCommandLength))
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
        guard system.configuration.linger > .zero else { return disconnect() }
        lingering = system.loop.schedule(after: system.configuration.linger) { [weak self] in
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
        if let lingering { system.loop.cancel(lingering) }
        lingering = nil
        let left = users
        users = []
        for user in left { user.end() }
        operations.close()
        channelOpenings.close()
        commands.removeAll()
        subscriptions = [:]
        keepCache()
        if let served { system.attributes.forget(served) }
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
            self?.system.trouble("the request for connection latency \(latency) ended: \(result)", .detail)
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
            loadServices { _ in done() }
        }
        _ = operations.add { [weak self] done in
            guard let self else { return done() }
            readName(done)
        }
        guard system.enhancedBearers != nil else { return }
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
            let before = system.peers[peer]?.name
            let name = String(decoding: value, as: UTF8.self)
            system.setName(name, of: peer)
            secured.name = name
            guard name != before else { return }
            for user in users { user.emit(.nameChanged(name)) }
        }
    }

    func servicesChanged(_ range: ClosedRange<AttributeHandle>) {
        operations.tellWhatIsKnown()
        database.invalidate(range)
        // Pending subscription requests fail (behaviour 15.11).
        for handle in subscriptions.keys.sorted() where range.contains(handle) {
            subscription(handle, .gone(.unknown(handle)))
        }
        for user in users {
            user.emit(.servicesModified(invalidated: user.invalidate(range)))
        }
    }
}
