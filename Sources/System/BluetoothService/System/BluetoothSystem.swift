import ATT
import BluetoothTypes
import EventLoops
import Foundation
import GAP
import GATT
import HCI
import HCIHost
import L2CAP
import Logging
import SMP
import Security
import ServiceMessages

/// A Bluetooth system: all apps that share a controller, and the stored state of apps and peers. It corresponds to the
/// system daemon of an Apple device. It outlasts its controllers, which are attached one after the other.
///
/// The system creates its parts and connects them: ``Controllers``, ``Peers``, ``SharedLinks`` and ``Apps`` own all
/// state. Used on its loop only. Apps connect through ``openApp(_:)``, whose result may be used from any thread.
package final class BluetoothSystem {
    package let loop: any EventLoop
    package let configuration: SystemConfiguration
    /// The observers of the system, one of which is the log.
    package let observers: Observers
    /// Controls the processes of apps on behalf of tools. Not retained.
    package weak var appControl: (any AppControl)?
    /// Creates what a stream of advice needs. Nil if this service gives none.
    package var adviceSource: (() -> any AdviceSource)?
    /// The places of calls in the processes of apps, for advice.
    package let places: AppPlaces
    /// Tells what the apps cost the battery. Nil unless the user of the service asks for it.
    package var energySource: (any EnergySource)?
    /// The most recent troubles.
    private(set) var troubles = TroubleList()
    /// The packets of the controllers, for tools.
    package let tap: PacketTap

    let peers: Peers
    private(set) lazy var controllers = Controllers(source, loop: loop, observers: observers, tap: tap, host: self)
    private(set) lazy var links = SharedLinks(
        configuration,
        loop: loop,
        observers: observers,
        peers: peers,
        controllers: controllers,
        host: self
    )
    private(set) lazy var apps = Apps(
        configuration,
        loop: loop,
        observers: observers,
        controllers: controllers,
        peers: peers,
        host: self
    )
    private lazy var scan = SharedScan(
        loop: loop,
        observers: observers,
        peers: peers,
        controllers: controllers,
        sessions: { [unowned self] in centrals }
    )
    let attributes: LocalAttributes
    let advertising = AdvertisingArbiter()
    /// The servers of the L2CAP channels that apps publish.
    let channels = ChannelServers()
    /// Accepts the enhanced bearers that peers open, if the configuration allows them.
    let enhancedBearers: EnhancedBearerListener?

    private let source: ControllerSource
    private let random: RandomSource
    private let identity: DeviceIdentity

    /// The address of a system without private addresses, for the next system of the same device. Nil before its first
    /// use.
    package var fixedAddress: BluetoothAddress? { identity.knownAddress }

    /// Creates a system on the controllers of a source, one after the other. It does nothing before ``start()``.
    ///
    /// - Parameters:
    ///   - random: The source of identifiers, addresses and keys.
    ///   - bonds: The storage for bonds and records, in place of the one in the configuration.
    package init(
        controllers: ControllerSource,
        loop: any EventLoop,
        random: RandomSource,
        configuration: SystemConfiguration = SystemConfiguration(),
        bonds: (any BondStorage)? = nil,
        logger: Logger
    ) {
        source = controllers
        self.loop = loop
        self.random = random
        self.configuration = configuration
        observers = Observers(loop: loop)
        places = AppPlaces(loop: loop)
        tap = PacketTap(observers, loop: loop)
        observers.add(LogObserver.kinds, LogObserver(logger: logger).write)
        enhancedBearers = configuration.usesEnhancedBearers ? try? EnhancedBearerListener(servers: channels) : nil
        attributes = LocalAttributes(
            name: configuration.deviceName,
            appearance: configuration.appearance,
            features: enhancedBearers == nil ? [] : .enhancedBearers
        )
        peers = Peers(configuration, bonds: bonds, random: random, loop: loop, observers: observers)
        identity = DeviceIdentity(configuration.address, random: random)
        connect()
    }

    /// Creates a system on the controller behind `transport`, and on no other.
    package convenience init(
        transport: any HCITransport,
        loop: any EventLoop,
        random: RandomSource,
        configuration: SystemConfiguration = SystemConfiguration(),
        bonds: (any BondStorage)? = nil,
        logger: Logger
    ) {
        self.init(
            controllers: ControllerSource(transport),
            loop: loop,
            random: random,
            configuration: configuration,
            bonds: bonds,
            logger: logger
        )
    }

    private func connect() {
        observers.add(TroubleList.kinds) { [weak self] in self?.troubles.add($0) }
        observers.onWanted = { [weak places] in places?.setAdviceWanted($0.contains(.practices)) }
        observers.nameOfPeer = { [weak self] in self?.identifier($0) }
        tap.nameOfPeer = { [weak self] in self?.identifier($0) }
        peers.device = { [weak self] in self?.controllers.device }
        peers.onBonds = { [weak attributes] in attributes?.server.keepRecords(in: $0) }
        advertising.onChange = { [weak self] in self?.controllers.advertise($0) }
        attributes.onRoom = { [weak self] in self?.peripherals.forEach { $0.pump() } }
        attributes.onRecord = { [weak peers] central, record in
            peers?.note(BondIdentifier(central)) { $0.record = record }
        }
        // The records follow the changes of peers and controllers from the beginning.
        _ = apps.records
    }

    /// Returns the identifier of the peer that an event of the host stack is about, if the peer is known. Adds no peer.
    private func identifier(_ event: any StackEvent) -> UUID? {
        links.link(with: event.link)?.peer ?? event.peer.flatMap { peers.identifier(at: $0) }
    }

    /// Returns the identifier of the peer that a packet is about, if the peer is known. Adds no peer.
    private func identifier(_ peer: PacketPeer) -> UUID? {
        switch peer {
        case .link(let handle): links.link(with: handle)?.peer
        case .address(let address): peers.identifier(at: address)
        }
    }

    /// Restores the saved state and starts the controller.
    package func start() {
        apps.start()
        controllers.start()
    }

    /// Stops the system for good. The saved state stays as it is.
    ///
    /// - Parameter completion: Called once the controller has been silenced. A program has to wait for it before it
    ///   exits.
    package func stop(_ completion: @escaping () -> Void = {}) {
        let device = controllers.device
        apps.stop()
        controllers.stop()
        peers.closeBonds()
        device.map { $0.whenSilent(completion) } ?? completion()
    }

    /// The maximum time that the end of the links may take in ``leave(_:)``.
    private static let leaveLimit = Duration.seconds(1)

    /// Ends advertising and all links, then stops the system for good, as ``stop(_:)`` does. Peers learn at once that
    /// this device has left.
    package func leave(_ completion: @escaping () -> Void = {}) {
        guard let device = controllers.device else { return stop(completion) }
        apps.stop()
        controllers.advertise(nil)
        device.disconnectAll(within: Self.leaveLimit) { [self] in stop(completion) }
    }

    /// Reports a problem that apps do not notice.
    package func trouble(_ text: @autoclosure () -> String, _ weight: EventWeight = .warning) {
        observers.trouble(text(), weight)
    }

    var centrals: [CentralSession] { apps.managers.entries.compactMap { $0.session as? CentralSession } }
    var peripherals: [PeripheralSession] { apps.managers.entries.compactMap { $0.session as? PeripheralSession } }
}

// MARK: - Radio

extension BluetoothSystem {
    /// The radio state, as reported to managers.
    package var state: ManagerState { controllers.state }

    /// Whether any controller has worked so far.
    package var hasWorked: Bool { controllers.hasWorked }

    /// Called when there is no working controller, with the last failure. Managers are then unsupported. The system
    /// continues when there is a controller again.
    package var onFailure: ((HCIHostError) -> Void)? {
        get { controllers.onFailure }
        set { controllers.onFailure = newValue }
    }

    /// The address that is visible to centrals, or nil while nothing is advertised.
    package var advertisedAddress: BluetoothAddress? { controllers.device?.advertiser.connectableAddress }

    /// Starts a scan that runs whenever Bluetooth is on, beside the scans of apps. It replaces an open scan before it.
    package func begin(_ openScan: OpenScan) { scan.use(openScan) }

    /// Changes the private address as soon as the controller is quiet, as at the end of its lifetime.
    package func changeAddress() { controllers.device?.privacy.handle(.need(.address)) }

    /// Sets the user's Bluetooth switch (behaviours 1.9 to 1.14, 10.15, 10.16).
    package func setPower(_ isOn: Bool, by powerSwitch: PowerSwitch = .settings) {
        controllers.setPower(isOn, by: powerSwitch)
    }

    /// Shows a frame of a simulated radio to the tools that follow packets, beside those of the controller.
    ///
    /// - Parameters:
    ///   - frame: The frame without keys, in the form of `PcapngWriter.LinkType.air`.
    ///   - start: The beginning of the frame.
    ///   - sender: The name of the device that has sent it; empty if it is not known.
    ///   - isReceived: Whether another device has sent it.
    ///   - addresses: The addresses of the devices that it is about, as far as they are known.
    package func showAir(
        _ frame: PacketBuffer,
        at start: Instant,
        from sender: String = "",
        isReceived: Bool,
        of addresses: [BluetoothAddress]
    ) {
        tap.recordPacket(frame, at: start, from: sender, isReceived: isReceived, of: addresses)
    }

    /// Sets the user's switch for all radios. If it affects Bluetooth, it has the effect of the switch in the settings
    /// (behaviours 10.15, 10.23).
    package func setAirplaneMode(_ isOn: Bool) { controllers.setAirplaneMode(isOn) }
}

extension BluetoothSystem: ControllersHost {
    var advertisingException: AdvertisingException { configuration.advertising }

    func makeDevice(on host: HCIHost) -> GenericAccess {
        GenericAccess(
            host: host,
            loop: loop,
            random: random,
            identity: identity,
            deviceSecurity: peers.deviceSecurity,
            channels: channels,
            privateAddressInterval: configuration.privacyInterval,
            stackEvents: observers.sink
        )
    }

    func willStart(_ controller: AttachedController) {
        controller.device.openBonds = { [weak peers] in peers?.openBonds(for: $0) }
        links.follow(controller.device)
        controller.advertisement.onStarted = { [weak advertising] in advertising?.started() }
        controller.advertisement.onFailed = { [weak advertising] in advertising?.failed($0) }
    }

    func userWillSwitch(_ isOn: Bool, by powerSwitch: PowerSwitch) {
        let isKept = powerSwitch == .controlCentre && configuration.version.preservesAcrossSwitches
        if !isOn, !isKept { apps.preservation.discard() }
    }

    func radioStateChanged(_ state: ManagerState, isNew: Bool) {
        if isNew {
            // Cached tables do not survive power off (behaviour 4.12).
            if state == .poweredOff { peers.forgetTables() }
            observers.report(.state, .stateChanged(state))
            apps.reportStates()
        }
        // Advertising resumes without a new request of the apps (behaviour 1.14).
        guard state == .poweredOn else { return }
        advertising.apply()
        scan.begin()
    }
}

// MARK: - What the parts need of each other

extension BluetoothSystem: LinksHost {
    var linkUsers: [any LinkUser] { centrals }
    var linkServers: [any LinkServer] { peripherals }
    var attributeServer: any AttributeServer { attributes }

    func linkUser(_ key: ManagerKey) -> (any LinkUser)? { apps.managers.session(key) as? CentralSession }

    func channels(of app: AppIdentity, to peer: UUID) -> Int { apps.managers.channels(of: app, to: peer) }
}

extension BluetoothSystem: AppsHost, CentralHost, PeripheralHost {
    var managers: ManagerTable { apps.managers }
    var isPoweredOn: Bool { controllers.state == .poweredOn }

    func makeSession(_ key: ManagerKey, of manager: AppManager) -> any ManagerSession {
        switch manager.role {
        case .central: CentralSession(key, of: manager, host: self)
        case .peripheral: PeripheralSession(key, of: manager, host: self)
        }
    }

    func scansChanged() { scan.changed() }
}

// MARK: - Apps

extension BluetoothSystem {
    /// Connects an app of this process, which the user opened, or which the system launched in the background.
    package func openApp(
        _ identity: AppIdentity,
        declaring declaration: AppDeclaration = .unmanaged,
        of program: AppProgram = AppProgram(),
        inBackground: Bool = false,
        launchedFor managers: RestoreIdentifiers = .ofThisLaunch,
        at place: SimulatedPlace? = nil
    ) -> InProcessConnection {
        let app = makeApp(identity, declaring: declaration, of: program, inBackground: inBackground)
        return InProcessConnection(app, launchedFor: managers, at: place, loop: loop)
    }

    /// Connects an app that runs in another process. It stays until its life cycle is notified of the end of the
    /// process.
    package func makeApp(
        _ identity: AppIdentity,
        declaring declaration: AppDeclaration,
        of program: AppProgram = AppProgram(),
        inBackground: Bool = false
    ) -> App {
        apps.make(identity, declaration, of: program, inBackground: inBackground, keeping: self)
    }

    /// The apps that have a process, the oldest first.
    package var runningApps: [App] { apps.running }

    // MARK: Launches

    /// Launches apps to receive events (behaviour 10.4). Not retained.
    package var launcher: (any AppLauncher)? {
        get { apps.preservation.launcher }
        set { apps.preservation.launcher = newValue }
    }

    /// Whether the device was started and not unlocked yet. Until then no preserved app is launched (behaviour 10.24).
    package var isLocked: Bool {
        get { apps.preservation.isLocked }
        set { apps.preservation.isLocked = newValue }
    }

    /// Returns the identifiers of an app's preserved managers, which it has to create when it is launched
    /// (behaviour 10.6).
    package func identifiersToRestore(of app: AppIdentity) -> RestoreIdentifiers {
        apps.preservation.identifiersToRestore(of: app)
    }

    /// Returns the declaration of a preserved app, or nil if the app is not preserved.
    package func declaration(ofPreserved app: AppIdentity) -> AppDeclaration? { apps.preservation.declaration(of: app) }

    /// Called when a launched process could not be started, or ended before it connected. The preserved state is kept.
    /// The next event launches the app again (behaviour 10.15), after a pause (behaviour 10.25).
    package func launchEnded(_ app: AppIdentity) { apps.preservation.launchEnded(app) }

    /// Called when the process of a launched app runs. The process is part of the record from now on.
    package func launchStarted(_ app: AppIdentity, as mark: ProcessMark) {
        apps.preservation.launchStarted(app, as: mark)
    }

    /// Called when the user opens an app. Clears the count of early ends (behaviour 10.25).
    package func personOpens(_ app: AppIdentity) { apps.preservation.personOpens(app) }

    /// Called when the user has force-quit an app, even one that had no process under this system (behaviours 10.16,
    /// 10.17).
    package func userForceQuit(_ app: AppIdentity) { apps.preservation.userForceQuit(app) }

    // MARK: Permission

    /// Asks the user whether apps may use Bluetooth. Without a prompter the question stays open (behaviour 1.18). Not
    /// retained.
    package var permissionPrompter: (any PermissionPrompter)? {
        get { apps.permissions.prompter }
        set { apps.permissions.prompter = newValue }
    }

    /// The permissions decided in advance. If it returns nil, the configuration applies.
    package var permissionRule: ((AppIdentity) -> AppPermission?)? {
        get { apps.permissions.rule }
        set { apps.permissions.rule = newValue }
    }

    /// Returns whether an app may use Bluetooth.
    package func permission(of app: AppIdentity) -> AppPermission { apps.permission(of: app) }

    /// Sets whether an app may use Bluetooth, and notifies its managers (behaviour 1.18).
    ///
    /// - Parameter executable: The path of the program that the decision applies to. Nil for every program of the app.
    package func setPermission(_ permission: AppPermission, for app: AppIdentity, executable: String? = nil) {
        apps.permissions.set(permission, for: app, executable: executable)
    }

    /// Called when the user changes the permission of an app in the settings. A running managed app is ended by that.
    /// Its preserved state stays (behaviour 1.27).
    package func changePermission(_ new: AppPermission, for app: AppIdentity) {
        apps.permissions.change(to: new, for: app)
    }

    /// Forgets the decision about an app. The user is asked again.
    package func resetPermission(of app: AppIdentity) { apps.permissions.reset(app) }
}

// MARK: - Pairing and bonds

extension BluetoothSystem {
    /// Asks the user about pairing. Without a prompter every pairing prompt is refused (AB-A14). Not retained.
    package var prompter: (any PairingPrompter)? {
        get { peers.deviceSecurity.prompter }
        set { peers.deviceSecurity.prompter = newValue }
    }

    /// Returns the apps that are connected to the peer of a prompt, with their phases.
    package func apps(of peer: PromptedPeer) -> [(app: AppIdentity, phase: AppPhase)] { links.apps(of: peer) }

    /// Returns the apps that need the pairing of a prompt. Empty if the peer began, or if the apps are gone.
    package func askers(of peer: PromptedPeer) -> [AppIdentity] { links.askers(of: peer) }

    /// Whether all apps behind a prompt are in the background. If so, the prompt waits as a notification
    /// (behaviour 6.21).
    package func isInBackground(_ peer: PromptedPeer) -> Bool {
        let apps = apps(of: peer)
        return !apps.isEmpty && apps.allSatisfy { $0.phase != .foreground }
    }

    /// The location of the bond store if another process has it open, so that nothing can be saved. Nil if the store is
    /// open here, or cannot be opened for another reason, which ``start()`` reports.
    package var storeInUse: String? {
        do throws(BondError) {
            _ = try peers.openStorage()
        } catch {
            if case .inUse(let place) = error { return place }
        }
        return nil
    }

    /// Why the bonds cannot be used; nil if they can, or while there is no controller.
    package var bondFailure: BondError? { peers.bondFailure }

    /// The bonded peers, for the user's settings. They are not visible to apps (behaviour 6.10).
    package var bondedPeers: [BondedPeer] { peers.bondedPeers }

    /// Forgets a bonded peer. Its link ends, and it has to pair again (behaviours 6.12, 6.14).
    ///
    /// - Throws: ``BondError`` if the peer is unknown or the bonds cannot be changed. A peer that was bonded stays so.
    package func forget(_ peer: UUID) throws(BondError) { try peers.forget(peer) }

    /// Creates the out-of-band data with which a peer can pair by LE Secure Connections. It replaces earlier data.
    ///
    /// - Returns: The data to pass to the peer, or nil if there are no random numbers.
    package func shareOutOfBand() -> OutOfBandData? { peers.shareOutOfBand() }

    /// Sets the out-of-band data of a peer. The next pairing uses it, whatever the peer, and fails with a peer that
    /// does not have this data.
    package func expectOutOfBand(_ data: OutOfBandData) { peers.expectOutOfBand(data) }
}
