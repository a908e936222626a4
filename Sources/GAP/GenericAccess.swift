import BluetoothTypes
import Bonds
import EventLoops
import HCI
import HCIHost
import L2CAP
import Privacy
import SMP
import Security

/// The Generic Access Profile of one device for users of the host stack: a controller with its advertiser, scanner and
/// connector, and the links that come of them (Core Vol 3 Part C). ``Broadcaster``, ``Observer``, ``Peripheral`` and
/// ``Central`` are its roles, which may all be played at once.
///
/// Everything follows the specification here; what Apple's systems do otherwise is the business of those above. Lives on its
/// loop; everything is called there.
package final class GenericAccess {
    /// How far the device is.
    package enum State: Hashable, Sendable {
        /// Not started, or stopped.
        case off
        /// The controller is being brought up.
        case starting
        /// All works, with this address on the air; when it is private, others follow.
        case ready(OwnAddress)
        /// The controller cannot be used.
        case failed(HCIHostError)
    }

    /// How far the device is.
    package private(set) var state = State.off
    /// Called after each change of ``state``. With the controller all links, modes and procedures are gone.
    package var onStateChange: ((State) -> Void)?
    /// Called with each link that is made, in either role, before anything is received on it.
    package var onLink: ((AccessLink) -> Void)?
    /// The links, the oldest first.
    package private(set) var links: [AccessLink] = []
    /// The loop of the device.
    package let loop: any EventLoop
    /// The advertising sets.
    package let advertiser: Advertiser
    /// Makes and ends links; ``Central`` is more comfortable.
    package let connector: Connector
    /// The private addresses; tell it of the bonds.
    package let privacy: DevicePrivacy
    /// The services that take credit-based channels of peers.
    package let channels: ChannelServers
    /// The security of all links: bonds, prompts, and how the device pairs.
    package let security: DeviceSecurity
    /// Opens the bonds that belong to a controller, which is ready and has shown nothing yet (AB-H08); nil when there are
    /// none. Without it the bonds stay those that the device was made with.
    package var openBonds: ((ControllerInformation) -> BondStore?)?

    /// How links use fewer of their events.
    package private(set) lazy var subrating = Subrating(self)
    /// The trains of periodic advertising that are followed.
    package private(set) lazy var trains = PeriodicObserver(self)
    /// The trains of this device that others may respond to.
    private(set) lazy var subevents = SubeventRouter(self)
    private(set) lazy var peerFeatures = PeerFeatures(host: host)

    private lazy var fallbacks = AccessFallbacks(self)

    let host: HCIHost
    let scanner: Scanner
    let happenings: HappeningSink
    private let identity: DeviceIdentity
    private var currentScan: Scan?
    private var watchers: [(owner: ObjectIdentifier, tell: ConnectionWatcher)] = []
    private var controller: ControllerInformation?
    private var ownAddress: OwnAddress?

    /// Takes each link that is made as central, and why one cannot be made; with the peer, unless it is about all of them.
    package typealias ConnectionWatcher = (Result<AccessLink, GAPError>, BluetoothAddress?) -> Void

    /// Who scans, and what he wants to be told.
    private struct Scan {
        let owner: ObjectIdentifier
        let onSighting: (Sighting) -> Void
        let onEnd: (GAPError?) -> Void
    }

    /// A device on a controller; nothing happens before ``start()``.
    ///
    /// - Parameters:
    ///   - host: A host that nobody else uses; its callbacks are taken over.
    ///   - random: For addresses and keys.
    ///   - policy: Which address is shown.
    ///   - bonds: Where bonds are kept, and who this device is behind private addresses; without it, no pairing makes a bond.
    ///   - pairing: How the device pairs.
    ///   - interval: After how long a private address gives way to another one.
    package convenience init(
        host: HCIHost,
        loop: any EventLoop,
        random: RandomSource,
        address policy: OwnAddressPolicy = .staticRandom,
        bonds: BondStore? = nil,
        pairing: PairingConfiguration = PairingConfiguration(),
        privateAddressInterval interval: Duration = GAPTimer.privateAddressInterval,
        happenings: HappeningSink
    ) {
        let security = DeviceSecurity(
            loop: loop,
            random: random,
            bonds: bonds,
            configuration: pairing,
            happenings: happenings
        )
        let identity = DeviceIdentity(policy, random: random)
        self.init(
            host: host,
            loop: loop,
            random: random,
            identity: identity,
            security: security,
            privateAddressInterval: interval,
            happenings: happenings
        )
    }

    /// A device on a controller, with what outlasts the controller.
    ///
    /// - Parameters:
    ///   - host: A host that nobody else uses; its callbacks are taken over.
    ///   - random: For private addresses.
    ///   - identity: Who the device is.
    ///   - security: Its bonds, and how it pairs; it belongs to this controller until the next device is made of it.
    ///   - channels: What it has to offer on credit-based channels.
    ///   - interval: After how long a private address gives way to another one.
    package init(
        host: HCIHost,
        loop: any EventLoop,
        random: RandomSource,
        identity: DeviceIdentity,
        security: DeviceSecurity,
        channels: ChannelServers = ChannelServers(),
        privateAddressInterval interval: Duration = GAPTimer.privateAddressInterval,
        happenings: HappeningSink
    ) {
        self.host = host
        self.loop = loop
        self.identity = identity
        self.happenings = happenings
        self.security = security
        self.channels = channels
        privacy = DevicePrivacy(
            host: host,
            loop: loop,
            random: random,
            identity: nil,
            interval: interval,
            happenings: happenings
        )
        advertiser = Advertiser(host: host, loop: loop, random: random, happenings: happenings, privacy: privacy)
        scanner = Scanner(host: host, loop: loop, happenings: happenings, privacy: privacy)
        connector = Connector(host: host, loop: loop, happenings: happenings, privacy: privacy, scanner: scanner)
        security.begin(on: host, privacy)
        listen()
        fallbacks.begin()
    }

    private func listen() {
        host.onStateChange = { [weak self] in self?.hostChanged($0) }
        host.onConnection = { [weak self] in self?.connected($0) }
        host.onConnectionFailed = { [weak self] in self?.connectionFailed($0) }
        host.onTrainConnectionFailed = { [weak self] in self?.subevents.connectionFailed($0, $1) }
        host.onDisconnection = { [weak self] in self?.disconnected($0, $1) }
        privacy.onFailed = { [weak self] error in
            guard let self, case .refused(let opcode, let status) = error else { return }
            host.stop()
            leave(to: .failed(.commandRefused(opcode, status)))
        }
        connector.onFailure = { [weak self] in self?.connectorFailed($0, $1) }
        connector.onHeld = { [weak self] in self?.connectorFailed($0, .connectionAlreadyExists) }
        connector.onParametersUpdated = { [weak self] event in
            self?.links.first { $0.connection.handle == event.handle }?.updated(event)
        }
        connector.parameterPolicy = { [weak self] connection, parameters in
            self?.links.first { $0.connection === connection }?.parameterPolicy(parameters) ?? false
        }
        scanner.onSighting = { [weak self] in self?.currentScan?.onSighting($0) }
        scanner.onEnded = { [weak self] in self?.scanEnded(nil) }
        scanner.onFailed = { [weak self] in self?.scanEnded($0) }
    }

    /// Brings the controller up.
    package func start() {
        host.start()
    }

    /// Ends everything.
    package func stop() {
        host.stop()
    }

    /// Calls `completion` once a controller that was stopped has been told to be silent (``HCIHost/whenSilent(_:)``).
    package func whenSilent(_ completion: @escaping () -> Void) {
        host.whenSilent(completion)
    }
}

// MARK: - The controller

extension GenericAccess {
    /// What the controller can do; nil before it is ready.
    package var controllerInformation: ControllerInformation? { controller }

    /// The controller has been brought up once more, to be driven otherwise; whoever uses the radio rests.
    func renewed(_ controller: ControllerInformation) {
        self.controller = controller
        advertiser.renewed(controller)
        scanner.renewed(controller)
        connector.renewed(controller)
    }

    private func hostChanged(_ new: HCIHost.State) {
        switch new {
        case .down: leave(to: .off)
        case .starting: leave(to: .starting)
        case .failed(let error): leave(to: .failed(error))
        case .ready(let controller): begin(controller)
        }
    }

    private func begin(_ controller: ControllerInformation) {
        if let openBonds { use(openBonds(controller)) }
        privacy.identity = identity.hidden(security.bonds)
        let address = identity.address(on: controller, security.bonds)
        ownAddress = address
        self.controller = controller
        let own = privacy.begin(address, on: controller)
        advertiser.begin(own, on: controller)
        scanner.begin(own, on: controller)
        connector.begin(own, on: controller)
        state = .ready(own)
        onStateChange?(state)
    }

    /// Links look their bonds up anew when these are others.
    private func use(_ bonds: BondStore?) {
        if security.bonds !== bonds { security.bonds = bonds }
    }

    private func leave(to new: State) {
        controller = nil
        fallbacks.reset()
        privacy.reset()
        advertiser.reset()
        scanner.reset()
        connector.reset()
        scanEnded(.notReady)
        trains.reset()
        subevents.reset()
        for watcher in watchers { watcher.tell(.failure(.notReady), nil) }
        let ended = links
        links = []
        for link in ended {
            link.ended(.controllerGone(.hardwareFailure))
            subrating.ended(link, .hardwareFailure)
        }
        state = new
        onStateChange?(new)
    }
}

// MARK: - Scanning, one user at a time

extension GenericAccess {
    /// Scans for somebody. `onEnd` is called when it ends by itself: with nil when its time is over.
    package func scan(
        _ settings: ScanSettings,
        for owner: AnyObject,
        onSighting: @escaping (Sighting) -> Void,
        onEnd: @escaping (GAPError?) -> Void
    ) throws(GAPError) {
        guard case .ready = state else { throw .notReady }
        guard currentScan == nil || currentScan?.owner == ObjectIdentifier(owner) else { throw .busy }
        currentScan = Scan(owner: ObjectIdentifier(owner), onSighting: onSighting, onEnd: onEnd)
        scanner.want(settings)
    }

    /// Ends the scan of somebody, without calling him.
    package func endScan(for owner: AnyObject) {
        guard currentScan?.owner == ObjectIdentifier(owner) else { return }
        currentScan = nil
        scanner.want(nil)
    }

    /// Remembers what a device advertises, however many others there are, until ``release(_:)`` (AB-G02).
    package func keep(_ address: BluetoothAddress) {
        scanner.keep(address)
    }

    /// Takes one ``keep(_:)`` back.
    package func release(_ address: BluetoothAddress) {
        scanner.release(address)
    }

    private func scanEnded(_ error: GAPError?) {
        let ended = currentScan
        currentScan = nil
        ended?.onEnd(error)
    }
}

// MARK: - Links

extension GenericAccess {
    /// Tells somebody of connections until ``unwatchConnections(for:)``.
    package func watchConnections(for owner: AnyObject, _ tell: @escaping ConnectionWatcher) {
        unwatchConnections(for: owner)
        watchers.append((ObjectIdentifier(owner), tell))
    }

    /// Tells somebody nothing more.
    package func unwatchConnections(for owner: AnyObject) {
        watchers.removeAll { $0.owner == ObjectIdentifier(owner) }
    }

    private func connected(_ connection: HCIConnection) {
        var own = privacy.connected(connection) ?? ownAddress?.address ?? .none
        if connection.role == .peripheral, connection.localResolvableAddress == nil,
            let shown = advertiser.takeAddress(of: connection.handle)
        {
            privacy.connected(connection.handle, toSetAt: shown)
            own = shown
        }
        let made = AccessLink(connection, ownAddress: own, access: self)
        if let made { links.append(made) }
        fallbacks.linkBegan()
        if connection.role == .central {
            connector.connected(connection.peerAddress)
        } else {
            advertiser.centralConnected()
            connector.unwant(connection.peerAddress)
        }
        guard let link = made else {
            if connection.role == .central { connectorFailed(connection.peerAddress, .connectionAlreadyExists) }
            return
        }
        onLink?(link)
        connector.requestLongPackets(on: connection)
        guard connection.role == .central else { return }
        for watcher in watchers { watcher.tell(.success(link), link.peer) }
    }

    private func connectionFailed(_ status: HCIStatus) {
        // The legacy commands tell the end of directed advertising in the same event (Core Vol 4 Part E 7.8.9).
        if status == .advertisingTimeout { return advertiser.directedAdvertisingTimedOut() }
        connector.ended(status)
    }

    private func connectorFailed(_ peer: BluetoothAddress, _ status: HCIStatus) {
        let isExtended = controller.map { CommandGeneration($0) } == .extended
        let opcode = isExtended ? LEExtendedCreateConnection.opcode : LECreateConnection.opcode
        let identity = privacy.identity(of: peer)
        for watcher in watchers { watcher.tell(.failure(.refused(opcode, status)), identity) }
    }

    private func disconnected(_ connection: HCIConnection, _ reason: HCIStatus) {
        let isUp = if case .ready = host.state { true } else { false }
        defer {
            if isUp {
                fallbacks.linkEnded()
                connector.linkEnded()
            }
        }
        if let index = links.firstIndex(where: { $0.connection === connection }) {
            // With the controller all links go.
            let link = links.remove(at: index)
            link.ended(isUp ? .disconnected(reason) : .controllerGone(reason))
            subrating.ended(link, reason)
        }
        if isUp { advertiser.linkEnded() }
    }

    /// Another link to the peer counts from now on.
    func replaced(_ link: AccessLink) {
        links.removeAll { $0 === link }
        link.ended(.replaced)
    }
}
