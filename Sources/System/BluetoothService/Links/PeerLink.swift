import ATT
import BluetoothTypes
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
///
/// It creates and ends the parts that work on the link for managers, and follows the link's security and end.
final class PeerLink {
    let link: AccessLink
    let peer: UUID
    let operations = LinkOperations()
    let attributes: RemoteAttributes
    private let subscriptions: LinkSubscriptions
    private let commands: WriteCommandQueue
    private let channelOpener: ChannelOpener
    let ranging: PeerRanging
    let reporter: LinkReporter
    let served: GATTServerSession?
    /// Whether this side has requested the end of the link. No manager can join it any more.
    private(set) var isEnding = false
    /// Whether the system has finished preparing the link for use.
    private(set) var isReady = false

    private unowned let links: SharedLinks
    private let client: GATTClient
    private let bearer: ATTBearer
    private let attachments = Attachments()
    private var lingering: ScheduledTask?
    private var hasBegunExchange = false
    private var hasReportedServiceChange = false
    private var closure: ATTBearerClosure?

    /// Adopts a link on which nothing has been received yet.
    init(_ link: AccessLink, peer: UUID, of links: SharedLinks) {
        self.link = link
        self.peer = peer
        self.links = links
        let opened = link.openAttributes(
            mtu: links.configuration.preferredMTU,
            server: links.served.server,
            enhanced: links.enhancedBearers
        )
        (bearer, client, served) = (opened.bearer, opened.client, opened.session)
        attributes = RemoteAttributes(of: peer, client, link.secureLink, links.peers)
        subscriptions = LinkSubscriptions(client, attributes, operations, attachments)
        commands = WriteCommandQueue(client, attributes, links.observers)
        channelOpener = ChannelOpener(link, of: peer, links.peers, links.managers)
        ranging = PeerRanging(link, client, operations, attributes, links.configuration, loop: links.loop)
        reporter = LinkReporter(link, bearer, attributes, attachments)
        if let served { links.served.attach(served, of: peer) }
        listen()
        followSecurity()
    }

    private func listen() {
        bearer.onMTUChange = { [weak self] in self?.mtuChanged($0) }
        bearer.onClose = { [weak self] in self?.bearerClosed($0) }
        link.attributes?.onEnhancedFailure = { [weak self] in self?.bearerClosed($0) }
        operations.width = { [weak client] in client?.bearers.count { $0.closure == nil } ?? 1 }
        operations.isOver = { [weak self] in self?.isOver ?? true }
        channelOpener.isOver = operations.isOver
        connection.onChange = { [weak self] in self?.reporter.linkChanged() }
        client.onServiceChanged = { [weak self] in self?.servicesChanged($0) }
        attributes.onFlaw = { [weak self] in self?.found($0) }
        attributes.onExplored = { [weak self] in if let self { links.notifyWatchers(of: self, .explored) } }
        subscriptions.onValue = { [weak self] in self?.ranging.receive($1, of: $0) }
        ranging.isUsed = { [weak self] in self?.subscriptions.hasSubscribers($0) ?? false }
        link.sounding.map(links.watchReflections)
        subscriptions.onAlert = { [weak self] in if let self { links.alert(.notified, of: peer) } }
        // As central Apple's rules hold (behaviours 3.27, 3.29), as peripheral only those of the specification.
        if connection.role == .central { link.parameterPolicy = { [weak self] in self?.accepts($0) ?? false } }
        link.l2cap.onDiscard = { [weak self] fault in
            self?.links.observers.trouble("a packet from the peer was discarded: \(fault)", .detail)
        }
        link.onEnd = { [weak self] end in
            guard let self else { return }
            links.ended(self, end)
        }
    }

    var connection: HCIConnection { link.connection }

    /// The managers that use the link, the oldest first.
    var users: [Attachment] { attachments.all }

    /// Whether the peer is a central, and the link is ready for use.
    var servesCentral: Bool { isReady && connection.role == .peripheral }

    var centralInfo: CentralInfo { CentralInfo(identifier: peer, maximumUpdateLength: maximumCommandLength) }

    /// The peer and the link, for observers.
    var subject: Observation.Subject { Observation.Subject(peer: peer, link: connection.handle) }

    var secureLink: SecureLink { link.secureLink }

    /// Whether procedures can no longer complete, because the attribute protocol or the whole link has ended.
    private var isOver: Bool {
        !link.isOpen || closure != nil || bearer.closure != nil
            || client.bearers.contains { $0.closure?.isFailure == true }
    }

    /// The maximum length of a write without response: MTU - 3 octets (behaviour 5.7).
    private var maximumCommandLength: Int { bearer.mtu - 3 }

    /// The peer's name for the user, or else its address.
    private var label: String { (links.peers[peer]?.name ?? secureLink.name)?.quotedName ?? "\(secureLink.peer)" }

    private func mtuChanged(_ mtu: Int) {
        for user in users { user.emit(.maximumWriteLengthChanged(mtu - 3)) }
        reporter.linkChanged()
        links.centralChanged(CentralInfo(identifier: peer, maximumUpdateLength: mtu - 3))
    }

    /// Ends the link if the attribute protocol has failed (behaviour 5.23).
    private func bearerClosed(_ closure: ATTBearerClosure) {
        // The first closure is the cause; later ones are consequences.
        self.closure = self.closure ?? closure
        if closure.isFailure { disconnect() }
    }

    /// Reports a flaw of the peer's attribute table, once on each link.
    private func found(_ flaw: TableFlaw) {
        links.observers.trouble("the attribute table of \(label) breaks a rule: \(flaw)", .notice)
        reportFlaw(.flawedTable(flaw.description), of: users)
        reporter.linkChanged()
    }

    /// Reports to the managers that the bonded peer cannot tell of changes of its services. The end of the link would
    /// be too late for managers that have left it before.
    private func checkForServiceChanged() {
        if attributes.foundServiceChangedMissing() { reportFlaw(.noServiceChanged, of: users) }
    }

    private func reportFlaw(_ practice: Practice, of users: [Attachment]) {
        for user in users { links.observers.report(.practices, .practiced(practice), of: user.subject) }
    }
}

// MARK: - Users

extension PeerLink {
    /// Prepares the link before anything uses it. As central, the link to a bonded peer is encrypted, or the
    /// preparation fails (behaviour 6.11, AB-A10). On any other link, the preparation waits for the first packet of the
    /// peer (behaviour 3.41).
    func prepare(_ completion: @escaping (Result<Void, SecurityError>) -> Void) {
        secureLink.prepare { [weak self] result in
            guard let self else { return completion(result) }
            // Behaviour 6.12.
            if case .failure(.peerLostKey) = result, !links.configuration.version.has(.lostBondsRefused) {
                return secureLink.secure(.encrypted) { [weak self] in self?.prepared($0, completion) }
            }
            prepared(result, completion)
        }
    }

    private func prepared(
        _ result: Result<Void, SecurityError>,
        _ completion: @escaping (Result<Void, SecurityError>) -> Void
    ) {
        guard case .success = result else { return completion(result) }
        guard secureLink.manager.encryption == nil else { return ready(completion) }
        link.whenEstablished { [weak self] in self?.ready(completion) }
    }

    private func ready(_ completion: (Result<Void, SecurityError>) -> Void) {
        isReady = true
        completion(.success(()))
    }

    /// Adds a manager, which is connected from then on (behaviour 3.9).
    func attach(_ user: Attachment) {
        if let lingering = lingering.take() { links.loop.cancel(lingering) }
        attachments.add(user)
        user.emit(.connected(name: links.peers[peer]?.info.name, maximumWriteWithoutResponse: maximumCommandLength))
        if attributes.lacksServiceChanged { reportFlaw(.noServiceChanged, of: [user]) }
        for flaw in attributes.flaws { reportFlaw(.flawedTable(flaw), of: [user]) }
        beginExchange()
        if user.requiresNotifications { authorizeNotifications(for: user) }
    }

    /// Removes a manager. After the last one, a link that this side created ends (behaviours 3.10, 3.11).
    func detach(_ user: Attachment) {
        ranging.remove(user)
        user.end()
        attachments.remove(user)
        commands.remove(of: user)
        subscriptions.remove(user)
        endIfUnused()
    }

    /// Ends a link that has no users, at once or after the configured linger.
    func endIfUnused() {
        guard users.isEmpty, connection.role == .central, lingering == nil else { return }
        guard links.configuration.linger > .zero else { return disconnect() }
        lingering = links.loop.schedule(after: links.configuration.linger) { [weak self] in
            self?.lingering = nil
            self?.disconnect()
        }
    }

    func disconnect() {
        guard !isEnding else { return }
        isEnding = true
        link.terminate()
    }

    /// Called when the link has ended. Returns its users, which get no outcomes of pending requests (behaviour 3.39).
    func close() -> [Attachment] {
        isEnding = true
        if let lingering = lingering.take() { links.loop.cancel(lingering) }
        let left = attachments.removeAll()
        for user in left { ranging.remove(user) }
        for user in left { user.end() }
        operations.close()
        channelOpener.close()
        commands.remove()
        subscriptions.close()
        attributes.keepCache()
        if let served { links.served.forget(served) }
        return left
    }

    /// The error that describes the end of the link to managers that did not request it.
    func error(for reason: HCIStatus) -> ServiceError {
        switch closure {
        case .requestTimeout, .indicationTimeout:
            ServiceError(.connectionTimeout, reason: "the peer did not answer within 30 seconds")
        case .tooManyRequests:
            ServiceError(.peripheralDisconnected, reason: "the peer flooded this host with requests")
        // Encryption comes first with a bonded peer, so this time-out is one of encryption (behaviour 6.13).
        case .linkLost, .local, nil:
            !isReady && reason == .linkLayerResponseTimeout
                && links.configuration.version.has(.encryptionTimeoutCode)
                ? ServiceError(SecurityError.encryptionTimedOut)
                : ServiceError(disconnection: reason, wasConnected: isReady)
        }
    }

    /// Replaces the attachment of an ended process by a new one, and drops the writes that the process had queued.
    func renew(_ user: Attachment) -> Attachment {
        commands.remove(of: user)
        ranging.remove(user)
        let new = user.renewed()
        attachments.replace(user, by: new)
        return new
    }

    /// The peer's state for a manager that is connected to it.
    func restored(for user: Attachment, _ info: PeerInfo) -> RestoredPeer {
        let services = attributes.restored(for: user) { subscriptions.contains(user, $0) }
        return RestoredPeer(info: info, maximumWriteWithoutResponse: maximumCommandLength, services: services)
    }
}

// MARK: - Initial exchange

extension PeerLink {
    /// A step of the initial exchange, which calls its argument when it has ended.
    private typealias Step = (PeerLink) -> (@escaping () -> Void) -> Void

    /// The steps of the initial exchange in their order (behaviours 3.23, 3.24).
    ///
    /// Service Changed is enabled before the services are read, so that no change in between is missed (Core Vol 3
    /// Part G 7.1).
    private var initialExchange: [Step] {
        [PeerLink.exchangeMTU, PeerLink.adoptCache, PeerLink.watchServices, PeerLink.loadServices, PeerLink.readName]
            + (links.enhancedBearers == nil ? [] : [PeerLink.openEnhancedBearers])
    }

    /// Queues the steps of the initial exchange, before any request of an app.
    private func beginExchange() {
        guard !hasBegunExchange else { return }
        hasBegunExchange = true
        for step in initialExchange {
            _ = operations.add { [weak self] done in
                guard let self else { return done() }
                step(self)(done)
            }
        }
    }

    private func exchangeMTU(_ done: @escaping () -> Void) { client.exchangeMTU { _ in done() } }

    private func adoptCache(_ done: @escaping () -> Void) { attributes.adoptCache(done) }

    private func watchServices(_ done: @escaping () -> Void) { client.watchServices { _ in done() } }

    private func loadServices(_ done: @escaping () -> Void) {
        attributes.loadServices { [weak self] _ in
            self?.checkForServiceChanged()
            done()
        }
    }

    private func readName(_ done: @escaping () -> Void) {
        client.readValue(of: GATTUUID.deviceName) { [weak self] result in
            defer { done() }
            guard let self, case .success(let value?) = result.map({ $0?.value }) else { return }
            let before = links.peers[peer]?.name
            let name = String(decoding: value, as: UTF8.self)
            links.peers.setName(name, of: peer)
            secureLink.name = name
            guard name != before else { return }
            for user in users { user.emit(.nameChanged(name)) }
        }
    }

    private func openEnhancedBearers(_ done: @escaping () -> Void) {
        client.announceEnhancedBearers { [weak self] bothCan in
            if bothCan { self?.link.attributes?.wantEnhancedBearers() }
            done()
        }
    }

    private func servicesChanged(_ range: ClosedRange<AttributeHandle>) {
        operations.reportKnownOutcomes()
        attributes.invalidate(range)
        subscriptions.invalidate(range)
        // Behaviour 4.15.
        if links.configuration.version.has(.missedServiceChange), hasReportedServiceChange { return }
        hasReportedServiceChange = true
        for user in users {
            user.emit(.servicesModified(invalidated: user.invalidate(range)))
        }
    }
}

// MARK: - Pairing and bonding

extension PeerLink {
    /// Subscribes to security events of the link, and restores what the attribute protocol keeps for bonded peers.
    private func followSecurity() {
        secureLink.identifier = BondIdentifier(peer)
        secureLink.name = links.peers[peer]?.name
        secureLink.onEvent = { [weak self] in self?.handle($0) }
        // After a refusal, or instead of a request that would be refused, the link is encrypted or the two devices
        // pair; only the user notices (behaviour 6.1).
        client.onInsufficientSecurity = { [weak self] refusal, done in
            guard let self, mayPair else { return done(.untried) }
            // A central may refuse requests that this system makes on its own. Without an app it is still a stranger.
            secureLink.secure(after: refusal, isForApp: !users.isEmpty, completion: done)
        }
        if let record = secureLink.bond?.record { served?.restore(record) }
    }

    /// Whether a running request may pair. A subscription runs for all managers of the link.
    private var mayPair: Bool {
        let asking = operations.askingUsers
        let concerned = asking.isEmpty ? users : asking
        return concerned.isEmpty || concerned.contains(where: \.pairs)
    }

    private func handle(_ event: SecureLink.Event) {
        switch event {
        case .changed(let security):
            links.observers.report(.links, .secured(security), of: subject)
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
        links.peers.note(identifier) { $0.record = record }
        reporter.linkChanged()
    }

    private func reportLostBond() {
        guard let bond = secureLink.bond else { return }
        let isAsked = secureLink.lostBonds == .asked && links.peers.canAskUser
        links.observers.report(.peerForgotUs(BondedPeer(bond), isAsked: isAsked))
    }

    private func reportSecurityFailure(of error: SecurityError) {
        switch error {
        case .pairing(let failure): links.observers.report(.pairingFailed(peer: label, failure))
        case .keysRefused:
            let isFull = secureLink.bond == nil && links.peers.isFull
            let reason = secureLink.keysRefusal.map { "\($0)" } ?? "\(error)"
            let full = "the maximum number of paired devices is reached; forget one that is not needed"
            links.observers.report(.bondNotKept(reason: isFull ? full : reason))
        default: break
        }
    }

    /// Pairs, and then decides whether the peer gets this system's notifications (ANCS, behaviour 3.19).
    private func authorizeNotifications(for user: Attachment) {
        secureLink.pair { [weak self] result in
            guard let self else { return }
            let isPaired = if case .success = result { true } else { false }
            user.emit(.notificationsAuthorized(isPaired && links.configuration.sharesNotifications))
        }
    }
}

// MARK: - Parameters

extension PeerLink {
    /// Whether Apple's rules accept the parameters that the peer requests. Reports a refusal in the log and for advice.
    private func accepts(_ parameters: ConnectionParameters) -> Bool {
        let isInputDevice = attributes.services.contains(HiddenServices.humanInterfaceDevice)
        let version = links.configuration.version
        let rules = AppleConnectionParameterRules(of: version, allowsHumanInterfaceDevice: isInputDevice)
        guard !rules.accept(parameters) else { return true }
        let explanation = rules.explanation(of: parameters)
        links.observers.trouble("refused parameters that \(label) requests: \(explanation)", .notice)
        reportFlaw(.parametersRefused(explanation: explanation), of: users)
        return false
    }

    /// As peripheral, requests other parameters from the central: 0 for low latency to 2 for high (behaviour 7.47).
    func requestLatency(_ latency: Int) {
        let parameters =
            switch latency {
            case ...0: ConnectionParameters(intervalMinimum: 12, intervalMaximum: 12, latency: 0, timeout: 600)
            case 1: ConnectionParameters(intervalMinimum: 60, intervalMaximum: 84, latency: 0, timeout: 600)
            default: ConnectionParameters(intervalMinimum: 240, intervalMaximum: 288, latency: 2, timeout: 600)
            }
        request(parameters, by: .l2cap)
    }

    /// Requests the connection parameters and PHY that a manager prefers. If the peer or the rules refuse, nothing
    /// changes and nothing is reported to the app.
    private func prefer(_ preference: LinkPreference) {
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
            return links.observers.trouble("the preferred connection parameters are invalid: \(parameters)", .detail)
        }
        request(parameters)
    }

    private func request(_ parameters: ConnectionParameters, by way: AccessLink.ParameterRequest = .automatic) {
        link.updateParameters(parameters, by: way) { [weak self] result in
            guard let self else { return }
            switch result {
            case .success: links.observers.report(.links, .parametersUpdated, of: subject)
            case .failure(let error):
                links.observers.trouble("the request for \(parameters) to \(label) failed: \(error)", .detail)
            }
        }
    }
}

// MARK: - Requests of apps

extension PeerLink {
    /// How long the fastest answer of Apple's service takes, whose messages go to another process and back. Apps rely
    /// on it: some start to wait for an answer only after they have asked.
    private static let messageDelay = Duration.microseconds(250)

    /// Queues a procedure for a manager, and reports the event of its outcome. Fails at once if too many requests are
    /// waiting (AB-G05).
    ///
    /// - Parameter attribute: The only attribute that the procedure reads; it may then run beside others if the link
    ///   has enhanced bearers. Nil for an exclusive procedure.
    private func run<Value>(
        lookingAt attribute: AttributeHandle? = nil,
        for asker: Asker,
        _ event: @escaping (Result<Value, ServiceError>) -> PeerEvent,
        _ procedure: @escaping (RemoteAttributes, @escaping (Result<Value, ServiceError>) -> Void) -> Void
    ) {
        let isAccepted = operations.add(lookingAt: attribute, for: asker) { [weak self] finish in
            guard let self, asker.user.isLive else { return finish(nil) }
            var isStarting = true
            procedure(attributes) { [weak self] result in
                guard isStarting, let self else { return finish(event(result)) }
                // What is known without asking the peer.
                let event = event(result)
                links.loop.schedule(after: Self.messageDelay) { finish(event) }
            }
            isStarting = false
        }
        if !isAccepted { asker.answer(event(.failure(.linkIsFull))) }
    }

    /// Carries out a request of a manager. A discovery is limited to the UUIDs in its list; nil or an empty list means
    /// all (behaviour 4.1).
    ///
    /// - Parameter channels: The channels of the manager.
    func perform(_ request: LinkRequest, for asker: Asker, in channels: AppChannels) {
        switch request {
        case .discoverServices(let uuids):
            run(for: asker, { .servicesDiscovered(asker.found($0, named: uuids)) }) { $0.loadServices($1) }
        case .discoverIncludedServices(let handle, let uuids):
            run(
                lookingAt: handle,
                for: asker,
                { .includedServicesDiscovered(of: handle, asker.found($0, named: uuids)) },
                { $0.loadIncludedServices(of: handle, $1) }
            )
        case .discoverCharacteristics(let handle, let uuids): discoverCharacteristics(uuids, of: handle, for: asker)
        case .discoverDescriptors(let handle):
            run(lookingAt: handle, for: asker, { .descriptorsDiscovered(of: handle, $0) }) {
                $0.loadDescriptors(of: handle, $1)
            }
        case .readCharacteristic(let handle):
            run(lookingAt: handle, for: asker, { .valueRead(handle, $0) }) { $0.read(handle, $1) }
        case .readDescriptor(let handle):
            run(lookingAt: handle, for: asker, { .descriptorUpdated(handle, $0) }) { $0.readDescriptor(handle, $1) }
        case .writeCharacteristic(let handle, let value):
            run(for: asker, { .valueWritten(handle, $0.failure) }) { $0.write(value, to: handle, $1) }
        case .writeWithoutResponse(let handle, let value):
            commands.add(value, to: handle, of: asker.user)
            // Behaviour 5.5.
            if links.configuration.version.has(.reportedWriteWithoutResponse) {
                asker.user.emit(.valueWritten(handle, nil))
            }
        case .writeDescriptor(let handle, let value):
            run(for: asker, { .descriptorWritten(handle, $0.failure) }) { $0.writeDescriptor(value, to: handle, $1) }
        case .setNotify(let handle, let isEnabled): subscriptions.set(isEnabled, handle, for: asker)
        case .readRSSI: reporter.readRSSI(for: asker)
        case .openChannel(let psm):
            if let error = links.configuration.version.error(lacking: .openedChannels) {
                return asker.answer(.channelOpened(psm: psm, .failure(error)))
            }
            channelOpener.open(psm, for: asker, in: channels)
        case .refreshServices: refreshServices(for: asker)
        case .readLinkInformation: reporter.readInformation(for: asker)
        case .watchLink(let isWatched): reporter.watch(isWatched, for: asker.user)
        case .preferLink(let preference):
            if let pairs = preference.pairs { asker.user.pairs = pairs }
            prefer(preference)
        case .startChannelSounding:
            ranging.start(for: asker, besides: links.all.contains { $0.ranging.isActive })
        case .cancelChannelSounding:
            guard !ranging.cancel(for: asker.user) else { return }
            let text = "no distance measurement to cancel is running to \(peer)"
            links.observers.misuse(text, by: asker.user.subject)
        }
    }

    private func discoverCharacteristics(_ uuids: [BluetoothUUID]?, of handle: AttributeHandle, for asker: Asker) {
        let event = { [attributes] (result: Result<[DiscoveredCharacteristic], ServiceError>) in
            let found = result.map { asker.user.found($0, at: \.value) { uuids.names($0.uuid) } }
            return PeerEvent.characteristicsDiscovered(
                of: handle,
                found.map { $0.map { RemoteCharacteristic($0, value: attributes.value(of: $0.value)) } }
            )
        }
        run(lookingAt: handle, for: asker, event) { $0.loadCharacteristics(of: handle, $1) }
    }

    /// Forgets all cached services, here and in records, tells all managers, and discovers them anew (behaviour 15.6).
    private func refreshServices(for asker: Asker) {
        run(for: asker, { .servicesDiscovered(asker.found($0, named: nil)) }) { [weak self] attributes, finish in
            attributes.forget(invalidating: { self?.servicesChanged(0x0001...0xFFFF) }) {
                attributes.loadServices(finish)
            }
        }
    }
}

extension Asker {
    /// Returns the services that the manager has discovered, now with those in the list, without the hidden ones.
    fileprivate func found(
        _ services: Result<[RemoteService], ServiceError>,
        named uuids: [BluetoothUUID]?
    ) -> Result<[RemoteService], ServiceError> {
        services.map { user.found($0.visible, at: \.handle) { uuids.names($0.uuid) } }
    }
}

extension [BluetoothUUID]? {
    /// Whether the list of UUIDs contains this one; nil or an empty list contains all.
    fileprivate func names(_ uuid: BluetoothUUID) -> Bool {
        guard let self, !self.isEmpty else { return true }
        return self.contains(uuid)
    }
}
