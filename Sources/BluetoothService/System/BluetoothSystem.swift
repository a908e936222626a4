import BluetoothTypes
import Bonds
import EventLoops
import Foundation
import GAP
import HCI
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
        get { device.security.prompter }
        set { device.security.prompter = newValue }
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
    let keeper: BondKeeper
    /// The bonded peers, which are known for as long as they are.
    var bonded: Set<UUID> = []
    /// The controller, with all that the host stack makes of it.
    let device: GenericAccess
    let random: RandomSource
    /// The peers that somebody holds on to, how often, and the addresses that the scanner keeps for that.
    private var held: [UUID: (count: Int, address: BluetoothAddress)] = [:]
    /// All apps together advertise one thing (behaviour 7.30).
    private let advertisement: AdvertisingSet
    private var managers: [(key: ManagerKey, session: any ManagerSession)] = []
    private var lastManager: UInt64 = 0
    private var isSwitchedOn = true

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
        keeper = BondKeeper(configuration, storage: bonds, random: random)
        device = GenericAccess(
            host: HCIHost(transport: transport, loop: loop, logger: logger),
            loop: loop,
            random: random,
            address: configuration.address,
            pairing: configuration.pairing,
            privateAddressInterval: configuration.privacyInterval,
            logger: logger
        )
        advertisement = device.advertiser.addSet()
        behaveAsApple()
        listen()
    }

    private func behaveAsApple() {
        device.connector.settings = .apple
        // As peripheral Apple's systems take a code in, and ask the person when a central has lost its bond.
        if configuration.pairing.ioCapability == .keyboardDisplay {
            device.security.policy.capabilityAsPeripheral = .keyboardOnly
        }
        device.security.policy.lostBondsOfCentrals = .asked
    }

    private func listen() {
        device.openBonds = { [weak self] in self?.openBonds(for: $0) }
        device.onStateChange = { [weak self] in self?.deviceChanged($0) }
        device.onLink = { [weak self] in self?.connected($0) }
        device.watchConnections(for: self) { [weak self] result, peer in
            if case .failure(let error) = result, let peer { self?.connectionFailed(peer, error) }
        }
        device.security.onBondChange = { [weak self] _ in self?.followBonds() }
        advertising.onChange = { [weak self] in self?.advertise($0) }
        advertisement.onStarted = { [weak self] in self?.advertising.started() }
        advertisement.onFailed = { [weak self] in self?.advertising.failed($0) }
        attributes.onRoom = { [weak self] in self?.peripherals.forEach { $0.pump() } }
        attributes.onRecord = { [weak self] central, record in
            self?.keeper.update(BondIdentifier(central)) { $0.record = record }
        }
        keeper.onNotice = { [weak self] in self?.tell($0) }
    }

    /// Brings the controller up.
    public func start() {
        device.start()
    }

    /// Ends everything, for good.
    public func stop() {
        device.stop()
        setState(.unsupported)
        closeBonds()
    }

    /// The user's switch for Bluetooth (behaviours 1.9 to 1.14).
    public func setPower(_ isOn: Bool) {
        guard isOn != isSwitchedOn else { return }
        isSwitchedOn = isOn
        if isOn {
            device.start()
        } else {
            device.stop()
            setState(.poweredOff)
        }
    }

    /// The address that centrals see; nil while nothing is advertised.
    public var advertisedAddress: BluetoothAddress? { device.advertiser.connectableAddress }

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
    private func deviceChanged(_ new: GenericAccess.State) {
        switch new {
        // Whoever switched it off says what the managers see.
        case .off: break
        // A controller that fails is reset; what was going on there is over, and more is to come (behaviour 1.4).
        case .starting: if state == .poweredOn { setState(.resetting) }
        case .ready:
            setState(.poweredOn)
            // Who advertised before goes on by himself (behaviour 1.14).
            advertising.apply()
        // It could not be brought back.
        case .failed(let error):
            guard isSwitchedOn else { return }
            logger.error("Bluetooth is unsupported: \(error)")
            setState(.unsupported)
            onFailure?(error)
        }
    }

    /// Before there is a controller nothing is asked for; what is wanted is asked for when there is one.
    private func advertise(_ plan: AdvertisingPlan?) {
        guard case .ready = device.state else { return }
        advertisement.want(plan.map { GAP.Advertisement($0) })
    }
}

// MARK: - Links

extension BluetoothSystem {
    /// The link to a peer, if there is one.
    func link(to peer: UUID) -> PeerLink? {
        links.first { $0.peer == peer }
    }

    private func connected(_ link: AccessLink) {
        let peer = peer(at: link.connection.peerAddress).identifier
        hold(peer)
        let made = PeerLink(link, peer: peer, system: self)
        links.append(made)
        made.prepare { [weak self, weak made] result in
            if let self, let made { prepared(made, result) }
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

    /// A link is no more.
    func ended(_ link: PeerLink, _ end: AccessLink.End) {
        links.removeAll { $0 === link }
        switch end {
        case .disconnected(let reason): over(link, reason)
        case .replaced: over(link, .remoteUserTerminated)
        // The managers learn of the state alone (behaviour 1.11).
        case .controllerGone: _ = close(link)
        }
    }

    /// Those who used a link that is gone. Its subscribers leave (behaviour 7.40).
    private func close(_ link: PeerLink) -> [Attachment] {
        let users = link.close()
        release(link.peer)
        for session in peripherals { session.centralLeft(link.peer) }
        return users
    }

    /// A link is no more, for all who used it or waited for it.
    private func over(_ link: PeerLink, _ reason: HCIStatus) {
        let error = link.error(for: reason)
        if !link.isReady, !link.isEnding, !reason.isOfTheAir {
            for session in centrals { session.connectionFailed(to: link.peer, error) }
        }
        for user in close(link) {
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
            device.keep(address)
        }
    }

    /// Takes one ``hold(_:)`` back.
    func release(_ peer: UUID) {
        guard let known = held[peer] else { return }
        peers.release(peer)
        held[peer] = known.count > 1 ? (known.count - 1, known.address) : nil
        if known.count == 1 { device.release(known.address) }
    }

    func centralChanged(_ central: CentralInfo) {
        for session in peripherals { session.centralChanged(central) }
    }
}

// MARK: - Scanning and connecting for managers

extension BluetoothSystem {
    /// Somebody scans for the first time, or nobody any more (behaviour 9.11).
    func scansChanged() {
        guard centrals.contains(where: { $0.isScanning }) else { return device.endScan(for: self) }
        do throws(GAPError) {
            try device.scan(
                .attentive,
                for: self,
                onSighting: { [weak self] in self?.heard($0) },
                onEnd: { [logger] in if let error = $0 { logger.warning("the scan has ended: \(error)") } }
            )
        } catch {
            logger.warning("cannot scan: \(error)")
        }
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
            device.connector.want(address)
        }
    }

    /// A manager has changed its mind.
    func connectionUnwanted(to peer: UUID) {
        guard let address = peers[peer]?.address, !centrals.contains(where: { $0.wants(peer) }) else { return }
        device.connector.unwant(address)
        link(to: peer)?.endIfUnused()
    }

    private func connectionFailed(_ address: BluetoothAddress, _ error: GAPError) {
        // A link was refused since there is another one to the peer, whose end those who wait are waiting for.
        guard let status = error.status, status != .connectionAlreadyExists else { return }
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
