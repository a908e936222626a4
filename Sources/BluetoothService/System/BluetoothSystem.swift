import BluetoothTypes
import Bonds
import EventLoops
import Foundation
import GAP
import HCI
import L2CAP
import Logging
import SMP

/// One Bluetooth system: a controller, and all apps that share it. What the system daemon of an Apple device does.
///
/// Lives on its loop; everything is called there. Apps come in through ``openApp(_:)``, whose result may be used from any
/// thread.
public final class BluetoothSystem {
    /// The loop of the system.
    public let loop: any EventLoop
    /// How the system presents itself.
    public let configuration: SystemConfiguration
    /// The state of the radio, as managers see it.
    public private(set) var state = ManagerState.unknown
    /// Called when the controller has failed and could not be brought back; managers are then unsupported.
    public var onFailure: ((HCIHostError) -> Void)?
    /// Asks the person whether and how to pair; without it, every answer is no (AB-A14). Not kept alive.
    public var prompter: (any PairingPrompter)? {
        get { security.prompter }
        set { security.prompter = newValue }
    }
    /// Takes what the person is to be told besides.
    public var onNotice: ((SystemNotice) -> Void)?
    /// The links that are up, the oldest first.
    private(set) var links: [PeerLink] = []
    /// The peers that this host knows.
    var peers: PeerTable

    let logger: Logger
    let attributes: LocalAttributes
    let advertising = AdvertisingArbiter()
    let connector: Connector
    let security: DeviceSecurity
    let privacy: DevicePrivacy
    let keeper: BondKeeper
    /// The bonded peers, which are known for as long as they are.
    var bonded: Set<UUID> = []
    /// Who this system is while there are no bonds that say so.
    var stranger: LocalIdentity?
    /// The peers that somebody holds on to, how often, and the addresses that the scanner keeps for that.
    private var held: [UUID: (count: Int, address: BluetoothAddress)] = [:]
    private let host: HCIHost
    let random: RandomSource
    private let advertiser: Advertiser
    /// All apps together advertise one thing (behaviour 7.30).
    private let advertisement: AdvertisingSet
    private let scanner: GAP.Scanner
    private var managers: [(key: ManagerKey, session: any ManagerSession)] = []
    private var lastManager: UInt64 = 0
    private var isSwitchedOn = true
    /// The address on the air, the same each time that the power comes back.
    private var address: OwnAddress?

    /// A system on the controller behind `transport`. It does nothing before ``start()``.
    ///
    /// - Parameters:
    ///   - random: For identifiers, addresses and keys.
    ///   - bonds: Where bonds are, in place of what the configuration says.
    public init(
        transport: any HCITransport,
        loop: any EventLoop,
        random: RandomSource,
        configuration: SystemConfiguration = SystemConfiguration(),
        bonds: (any BondStorage)? = nil,
        logger: Logger
    ) {
        self.loop = loop
        self.random = random
        self.configuration = configuration
        self.logger = logger
        peers = PeerTable(random: random)
        attributes = LocalAttributes(name: configuration.deviceName, appearance: configuration.appearance)
        host = HCIHost(transport: transport, loop: loop, logger: logger)
        keeper = BondKeeper(configuration, storage: bonds, random: random)
        security = DeviceSecurity(
            host: host,
            loop: loop,
            random: random,
            configuration: configuration.pairing,
            logger: logger
        )
        // As peripheral Apple's systems take a code in, and ask the person when a central has lost its bond.
        if configuration.pairing.ioCapability == .keyboardDisplay {
            security.policy.capabilityAsPeripheral = .keyboardOnly
        }
        security.policy.lostBondsOfCentrals = .asked
        privacy = DevicePrivacy(
            host: host,
            loop: loop,
            random: random,
            identity: nil,
            interval: configuration.privacyInterval,
            logger: logger
        )
        advertiser = Advertiser(host: host, loop: loop, random: random, logger: logger, privacy: privacy)
        advertisement = advertiser.addSet()
        scanner = GAP.Scanner(host: host, loop: loop, logger: logger, privacy: privacy)
        connector = Connector(host: host, loop: loop, logger: logger, privacy: privacy)
        security.privacy = privacy
        listen()
    }

    private func listen() {
        host.onStateChange = { [weak self] in self?.hostChanged($0) }
        host.onConnection = { [weak self] in self?.connected($0) }
        host.onConnectionFailed = { [weak self] in self?.connector.ended($0) }
        connector.settings = .apple
        // As central Apple's rules hold (behaviour 3.27); as peripheral whatever the specification allows.
        connector.parameterPolicy = { $0.role != .central || AppleConnectionParameterRules().accept($1) }
        host.onDisconnection = { [weak self] in self?.disconnected($0, $1) }
        scanner.onSighting = { [weak self] in self?.heard($0) }
        connector.onFailure = { [weak self] in self?.connectionFailed($0, $1) }
        advertising.onChange = { [weak self] in self?.advertise($0) }
        advertisement.onStarted = { [weak self] in self?.advertising.started() }
        advertisement.onFailed = { [weak self] in self?.advertising.failed($0) }
        attributes.onRoom = { [weak self] in self?.peripherals.forEach { $0.pump() } }
        attributes.onRecord = { [weak self] central, record in
            self?.keeper.update(BondIdentifier(central)) { $0.record = record }
        }
        privacy.onFailed = { [weak self] in self?.addressRefused($0) }
        security.onBondChange = { [weak self] _ in self?.followBonds() }
        keeper.onNotice = { [weak self] in self?.tell($0) }
    }

    /// Brings the controller up.
    public func start() {
        host.start()
    }

    /// Ends everything, for good.
    public func stop() {
        leavePower(to: .unsupported)
        host.stop()
        closeBonds()
    }

    /// The user's switch for Bluetooth (behaviours 1.9 to 1.14).
    public func setPower(_ isOn: Bool) {
        guard isOn != isSwitchedOn else { return }
        isSwitchedOn = isOn
        if !isOn {
            leavePower(to: .poweredOff)
            host.stop()
        } else {
            host.start()
        }
    }

    /// The address that centrals see; nil while nothing is advertised.
    public var advertisedAddress: BluetoothAddress? { advertiser.connectableAddress }

    /// Lets an app in.
    public func openApp(_ identity: AppIdentity) -> InProcessConnection {
        InProcessConnection(AppSession(identity, system: self), loop: loop)
    }

    /// The time by the calendar, if there is one, in seconds since the beginning of 2001, UTC.
    var calendarTime: TimeInterval? {
        configuration.loopStart.map { $0 + Double(loop.now.nanoseconds) / 1_000_000_000 }
    }

    /// Tells the person something.
    func tell(_ notice: SystemNotice) {
        logger.notice("\(notice)")
        onNotice?(notice)
    }

    /// Tells the developer of an app of a mistake (behaviour 1.26).
    func misuse(_ text: String) {
        logger.warning("API misuse: \(text)")
    }
}

// MARK: - Managers

extension BluetoothSystem {
    var centrals: [CentralSession] { managers.compactMap { $0.session as? CentralSession } }
    var peripherals: [PeripheralSession] { managers.compactMap { $0.session as? PeripheralSession } }

    func nextManagerNumber() -> UInt64 {
        lastManager += 1
        return lastManager
    }

    /// Adds a manager. It learns the state at once, or when there is one.
    func add(_ session: any ManagerSession, _ key: ManagerKey) {
        managers.append((key, session))
        if state != .unknown { session.stateChanged(to: state) }
    }

    func remove(_ session: any ManagerSession) {
        managers.removeAll { $0.session === session }
    }

    private func setState(_ new: ManagerState) {
        guard new != state else { return }
        logger.info("Bluetooth is \(new)")
        state = new
        for (_, session) in managers { session.stateChanged(to: new) }
    }
}

// MARK: - The controller

extension BluetoothSystem {
    private func hostChanged(_ state: HCIHost.State) {
        switch state {
        case .down: break
        // The host resets a controller that fails; what was going on there is over, and more is to come (behaviour 1.4).
        case .starting: if self.state == .poweredOn { leavePower(to: .resetting) }
        case .ready(let controller): controllerIsReady(controller)
        case .failed(let error): controllerFailed(error)
        }
    }

    private func controllerIsReady(_ controller: ControllerInformation) {
        guard isSwitchedOn else { return host.stop() }
        openBonds(for: controller)
        let fixed =
            address
            ?? OwnAddress(configuration.address, publicAddress: controller.publicAddress, random: random)
        address = fixed
        let own = privacy.begin(fixed, on: controller)
        advertiser.begin(own, on: controller)
        scanner.begin(own, on: controller)
        connector.begin(own, on: controller)
        setState(.poweredOn)
        // Who advertised before goes on by himself (behaviour 1.14).
        advertising.apply()
    }

    /// A controller that takes no address is of no use.
    private func addressRefused(_ error: HCICommandError) {
        guard case .refused(let opcode, let status) = error else { return }
        host.stop()
        controllerFailed(.commandRefused(opcode, status))
    }

    /// A host that could not help itself gives up.
    private func controllerFailed(_ error: HCIHostError) {
        guard isSwitchedOn else { return }
        logger.error("Bluetooth is unsupported: \(error)")
        leavePower(to: .unsupported)
        onFailure?(error)
    }

    /// Nothing goes on the air any more.
    private func leavePower(to new: ManagerState) {
        advertiser.reset()
        scanner.reset()
        connector.reset()
        privacy.reset()
        let ended = links
        links = []
        // The managers learn of the state alone; subscribers leave (behaviours 1.11, 7.40).
        for link in ended { end(link) }
        setState(new)
    }

    /// Before there is a controller nothing is asked for; what is wanted is asked for when there is one.
    private func advertise(_ plan: AdvertisingPlan?) {
        guard case .ready = host.state else { return }
        advertisement.want(plan.map { GAP.Advertisement($0) })
    }

    private func end(_ link: PeerLink) {
        _ = link.close()
        release(link.peer)
        for session in peripherals { session.centralLeft(link.peer) }
    }
}

// MARK: - Links

extension BluetoothSystem {
    /// The link to a peer, if there is one.
    func link(to peer: UUID) -> PeerLink? {
        links.first { $0.peer == peer }
    }

    /// The address that this system has on a link: what pairing is computed with.
    func ownAddress(of connection: HCIConnection) -> BluetoothAddress {
        privacy.ownAddress(of: connection) ?? address?.address ?? .none
    }

    private func connected(_ connection: HCIConnection) {
        privacy.connected(connection)
        let peer = peer(at: connection.peerAddress)
        hold(peer.identifier)
        let made = PeerLink(connection, peer: peer.identifier, system: self)
        if let made { links.append(made) }
        if connection.role == .central {
            connector.connected(peer.address)
        } else {
            advertiser.centralConnected()
            connector.unwant(peer.address)
        }
        guard let link = made else { return release(peer.identifier) }
        link.prepare { [weak self, weak link] result in
            if let self, let link { prepared(link, result) }
        }
    }

    /// A link can be used, or not: a bonded peer that cannot show that it is who it was is refused (behaviour 6.12).
    private func prepared(_ link: PeerLink, _ result: Result<Void, SecurityError>) {
        switch result {
        case .success:
            for session in centrals { session.linkIsUp(link) }
            // Whoever wanted it may have changed his mind while it was on its way.
            link.endIfUnused()
        // The disconnection says more.
        case .failure(.linkLost): break
        case .failure(let error):
            for session in centrals { session.connectionFailed(to: link.peer, ServiceError(error)) }
            link.disconnect()
        }
    }

    private func disconnected(_ connection: HCIConnection, _ reason: HCIStatus) {
        // With the controller gone all links go, when the state changes.
        guard case .ready = host.state else { return }
        if let index = links.firstIndex(where: { $0.connection === connection }) {
            over(links.remove(at: index), reason)
        }
        advertiser.linkEnded()
    }

    /// Another link to the peer counts from now on.
    func replaced(_ link: PeerLink) {
        links.removeAll { $0 === link }
        over(link, .remoteUserTerminated)
    }

    /// A link is no more, for all who used it or waited for it.
    private func over(_ link: PeerLink, _ reason: HCIStatus) {
        let error = link.error(for: reason)
        if !link.isReady, !link.isEnding, !reason.isOfTheAir {
            for session in centrals { session.connectionFailed(to: link.peer, error) }
        }
        let users = link.close()
        release(link.peer)
        for session in peripherals { session.centralLeft(link.peer) }
        for user in users {
            let session = managers.first { $0.key == user.manager }?.session as? CentralSession
            session?.linkIsGone(link, user, error)
        }
        // Those who came while the link was ending want a new one.
        if centrals.contains(where: { $0.wants(link.peer) }) { connectionWanted(to: link.peer) }
    }

    /// Remembers a peer, however many others there are, until as many ``release(_:)`` have come (AB-G02).
    func hold(_ peer: UUID) {
        guard let address = peers[peer]?.address else { return }
        peers.hold(peer)
        if let known = held[peer] {
            held[peer] = (known.count + 1, known.address)
        } else {
            // Its address may be another one by the time that it is let go: it may be bonded meanwhile.
            held[peer] = (1, address)
            scanner.keep(address)
        }
    }

    /// Takes one ``hold(_:)`` back.
    func release(_ peer: UUID) {
        guard let known = held[peer] else { return }
        peers.release(peer)
        held[peer] = known.count > 1 ? (known.count - 1, known.address) : nil
        if known.count == 1 { scanner.release(known.address) }
    }

    func centralChanged(_ central: CentralInfo) {
        for session in peripherals { session.centralChanged(central) }
    }
}

// MARK: - Scanning and connecting for managers

extension BluetoothSystem {
    /// Somebody scans for the first time, or nobody any more (behaviour 9.11).
    func scansChanged() {
        scanner.want(centrals.contains { $0.isScanning } ? .attentive : nil)
    }

    private func heard(_ sighting: Sighting) {
        guard sighting.isForApps else { return }
        let identifier = peer(at: sighting.address).identifier
        peers.setAdvertisedName(sighting.data.localName?.text, of: identifier)
        guard let peer = peers[identifier] else { return }
        for session in centrals { session.heard(sighting, from: peer) }
    }

    /// A manager wants to be connected to `peer`: joins the link that there is, or asks for one (behaviour 3.9).
    func connectionWanted(to peer: UUID) {
        if let link = link(to: peer), !link.isEnding {
            // Before it is ready it is not for anybody, and then for all who want it.
            if link.isReady { for session in centrals { session.linkIsUp(link) } }
        } else if link(to: peer) == nil, let address = peers[peer]?.address {
            connector.want(address)
        }
    }

    /// A manager has changed its mind.
    func connectionUnwanted(to peer: UUID) {
        guard let address = peers[peer]?.address, !centrals.contains(where: { $0.wants(peer) }) else { return }
        connector.unwant(address)
        link(to: peer)?.endIfUnused()
    }

    private func connectionFailed(_ address: BluetoothAddress, _ status: HCIStatus) {
        let peer = peer(at: address).identifier
        for session in centrals { session.connectionFailed(to: peer, ServiceError(connecting: status)) }
    }
}

extension HCIStatus {
    /// Whether a link was lost for want of a radio path: the next attempt may do better.
    fileprivate var isOfTheAir: Bool { self == .connectionTimeout || self == .connectionFailedToBeEstablished }
}

extension Sighting {
    /// The longest extended advertisement that apps are shown (behaviour 2.26).
    private static let maximumExtendedLength = 124

    /// Whether apps are shown it: not when nobody could connect to it or tell it from others, for lack of an address, and of
    /// extended advertisements those on 2M alone (behaviour 2.26).
    fileprivate var isForApps: Bool {
        guard !isAnonymous else { return false }
        guard let phys else { return true }
        return phys.secondary == .le2M && data.encodedLength <= Self.maximumExtendedLength
    }
}
