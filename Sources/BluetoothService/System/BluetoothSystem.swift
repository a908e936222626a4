import ATT
import BluetoothTypes
import Bonds
import EventLoops
import Foundation
import GAP
import GATT
import HCI
import HCIHost
import L2CAP
import Logging
import Privacy
import SMP
import Security

/// A Bluetooth system: all apps that share a controller, and the stored state of apps and peers. It corresponds to the
/// system daemon of an Apple device. It outlasts its controllers, which are attached one after the other.
///
/// Used on its loop only. Apps connect through ``openApp(_:)``, whose result may be used from any thread.
package final class BluetoothSystem {
    package let loop: any EventLoop
    package let configuration: SystemConfiguration
    /// The most recent troubles.
    private(set) var troubles = TroubleList()
    /// The radio state, as reported to managers.
    package internal(set) var state = ManagerState.unknown
    /// Called when there is no working controller, with the last failure. Managers are then unsupported. The system
    /// continues when there is a controller again.
    package var onFailure: ((HCIHostError) -> Void)?
    /// Whether any controller has worked so far.
    package internal(set) var hasWorked = false
    /// Asks the user about pairing. Without a prompter every pairing prompt is refused (AB-A14). Not retained.
    package var prompter: (any PairingPrompter)? {
        get { security.prompter }
        set { security.prompter = newValue }
    }
    /// Asks the user whether apps may use Bluetooth. Without a prompter the question stays open (behaviour 1.18). Not
    /// retained.
    package weak var permissionPrompter: (any PermissionPrompter)?
    /// Launches apps to receive events (behaviour 10.4). Not retained.
    package weak var launcher: (any AppLauncher)?
    /// Controls the processes of apps on behalf of tools. Not retained.
    package weak var appManagement: (any AppManagement)?
    /// Routes prompts to tools whose users answer them. Not retained.
    package weak var promptDesk: PromptDesk?
    /// The permissions decided in advance. If it returns nil, the configuration applies.
    package var permissionRule: ((AppIdentity) -> AppPermission?)? {
        didSet { tellStates() }
    }
    /// Whether the device was started and not unlocked yet. Until then no preserved app is launched (behaviour 10.24).
    package var isLocked = false {
        didSet { if !isLocked { for app in preservedApps { app.deviceWasUnlocked() } } }
    }
    /// The observers of the system, one of which is the log.
    package let observers: Observers

    // State that outlasts a controller.
    let random: RandomSource
    let keeper: BondKeeper
    let security: DeviceSecurity
    let identity: DeviceIdentity
    let attributes: LocalAttributes
    /// The servers of the L2CAP channels that apps publish.
    let channels = ChannelServers()
    /// Accepts the enhanced bearers that peers open, if the configuration allows them.
    let enhancedBearers: EnhancedBearerListener?
    let advertising = AdvertisingArbiter()
    /// The peers known to this host.
    var peers: PeerTable
    /// The cached attribute tables of peers (behaviours 4.9, 4.10).
    var tables = RecencyTable<UUID, KnownTable>(limit: KnownTable.maximumPeers)
    /// The attribute tables as last saved, and whether they have changed since.
    lazy var writtenTables = TableRecord(run: configuration.run ?? "")
    var hasNewTables = false
    /// Saves the records of apps, decisions and peers.
    let records: RecordKeeper
    /// The apps whose record may have changed. Processed once per turn of the loop.
    var changedApps: [AppIdentity] = []
    /// The apps for which a lack of record slots was reported.
    var unrecorded: Set<AppIdentity> = []
    /// Whether a save is scheduled.
    var isKeeping = false
    /// Decisions about apps that override the policy and the configuration.
    var permissions: [AppIdentity: AppDecision] = [:]
    /// The preserved state of apps whose process is gone.
    var preserved: [AppIdentity: PreservedApp] = [:]
    /// Delays launches of apps whose processes end early.
    lazy var relaunches = makeRelaunches()
    /// The apps about which the user is being asked.
    var asking: Set<AppIdentity> = []
    /// The bonded peers. Each is kept in the tables for as long as its bond exists.
    var bonded: Set<UUID> = []
    /// The peers that are kept in the tables, with the number of holds and the address that the scanner keeps.
    var held: [UUID: (count: Int, address: BluetoothAddress)] = [:]
    private var managers: [(key: ManagerKey, app: AppIdentity, session: any ManagerSession)] = []
    /// The number of managers by app, for the quota that every new manager is checked against.
    private var managerCounts: [AppIdentity: Int] = [:]
    private var lastManager: UInt64 = 0
    private var lastInFront: UInt64 = 0
    private var launches: [WeakApp] = []

    // State of the current controller and its links.
    let controllers: ControllerSource
    /// The fallbacks in use for controllers that misbehaved.
    let controllerMemory = ControllerMemory()
    var power = PowerMachine()
    private var airplaneMode = AirplaneMode()
    var lookAgain: ScheduledTask?
    /// The recovery of a controller that fails.
    var recovery = RecoveryLadder()
    var quietTime: ScheduledTask?
    /// The transport whose device is being reset, the number of that reset, and its timeout.
    var resettingLine: (any HCITransport)?
    var deviceResets: UInt64 = 0
    var deviceResetTimer: ScheduledTask?
    var lastFailure: HCIHostError?
    /// The controller with the host stack on top of it.
    var attached: AttachedController?
    /// The established links, the oldest first.
    var links: [PeerLink] = []

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
        self.controllers = controllers
        self.loop = loop
        self.random = random
        self.configuration = configuration
        observers = Observers(loop: loop)
        records = RecordKeeper(loop: loop)
        observers.add(LogObserver.kinds, LogObserver(logger: logger).take)
        enhancedBearers = configuration.usesEnhancedBearers ? try? EnhancedBearerListener(servers: channels) : nil
        attributes = LocalAttributes(
            name: configuration.deviceName,
            appearance: configuration.appearance,
            features: enhancedBearers == nil ? [] : .enhancedBearers
        )
        let keeper = BondKeeper(configuration, storage: bonds, random: random, loop: loop)
        self.keeper = keeper
        peers = PeerTable { keeper.secret("names of peers") }
        security = DeviceSecurity(
            loop: loop,
            random: random,
            configuration: configuration.pairing,
            happenings: observers.sink
        )
        identity = DeviceIdentity(configuration.address, random: random)
        // As peripheral, Apple's systems only accept passkey entry, and ask the user when a central has lost its bond.
        if configuration.pairing.ioCapability == .keyboardDisplay {
            security.policy.capabilityAsPeripheral = .keyboardOnly
        }
        security.policy.lostBondsOfCentrals = .asked
        listen()
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

    private func listen() {
        observers.add(TroubleList.kinds) { [weak self] in self?.troubles.take($0) }
        observers.nameOfPeer = { [weak self] in self?.identifier($0) }
        controllers.onArrival = { [weak self] in self?.controllerArrived() }
        security.onBondChange = { [weak self] _ in self?.followBonds() }
        advertising.onChange = { [weak self] in self?.advertise($0) }
        attributes.onRoom = { [weak self] in self?.peripherals.forEach { $0.pump() } }
        attributes.onRecord = { [weak self] central, record in
            self?.keeper.note(BondIdentifier(central)) { $0.record = record }
        }
        keeper.onNotice = { [weak self] in self?.tell($0) }
        records.onTrouble = { [weak self] in self?.trouble($0, $1) }
        controllerMemory.onChange = { [weak self] in self?.noteChange() }
    }

    /// Restores the saved state and starts the controller.
    package func start() {
        openRecords()
        handle(.start)
    }

    /// Stops the system for good. The saved state stays as it is.
    ///
    /// - Parameter completion: Called once the controller has been silenced. A program has to wait for it before it
    ///   exits.
    package func stop(_ completion: @escaping () -> Void = {}) {
        let device = attached?.device
        relaunches.stop()
        closeRecords()
        handle(.stop)
        endRecovery()
        closeBonds()
        device.map { $0.whenSilent(completion) } ?? completion()
    }

    /// Sets the user's Bluetooth switch (behaviours 1.9 to 1.14, 10.15, 10.16).
    package func setPower(_ isOn: Bool, by powerSwitch: PowerSwitch = .settings) {
        airplaneMode.bluetoothWasSwitched(isOn)
        switchPower(isOn, by: powerSwitch)
    }

    /// Sets the user's switch for all radios. If it affects Bluetooth, it has the effect of the switch in the settings
    /// (behaviours 10.15, 10.23).
    package func setAirplaneMode(_ isOn: Bool) {
        if let isOn = airplaneMode.set(isOn, hasPower: power.isSwitchedOn) { switchPower(isOn, by: .settings) }
    }

    private func switchPower(_ isOn: Bool, by powerSwitch: PowerSwitch) {
        let isKept = powerSwitch == .controlCentre && configuration.version.preservesAcrossSwitches
        if !isOn, !isKept { discardPreserved() }
        handle(.switched(isOn: isOn))
    }

    /// The address that is visible to centrals, or nil while nothing is advertised.
    package var advertisedAddress: BluetoothAddress? { attached?.device.advertiser.connectableAddress }

    /// Connects an app of this process, which the user opened, or which the system launched in the background.
    package func openApp(
        _ identity: AppIdentity,
        declaring declaration: AppDeclaration = .unmanaged,
        of program: AppProgram = AppProgram(),
        inBackground: Bool = false,
        launchedFor managers: RestoreIdentifiers = .ofThisLaunch
    ) -> InProcessConnection {
        let app = makeApp(identity, declaring: declaration, of: program, inBackground: inBackground)
        return InProcessConnection(app, launchedFor: managers, loop: loop)
    }

    /// Connects an app that runs in another process. It stays until its life cycle is notified of the end of the
    /// process.
    package func makeApp(
        _ identity: AppIdentity,
        declaring declaration: AppDeclaration,
        of program: AppProgram = AppProgram(),
        inBackground: Bool = false
    ) -> App {
        let app = App(identity, declaration, of: program, inBackground: inBackground, system: self)
        launches.removeAll { $0.app == nil }
        launches.append(WeakApp(app: app))
        return app
    }

    /// The apps that have a process, the oldest first.
    package var runningApps: [App] { launches.compactMap(\.app).filter(\.life.hasProcess) }

    private struct WeakApp {
        weak var app: App?
    }

    /// The calendar time in seconds since the beginning of 2001, UTC. Nil without a calendar.
    var calendarTime: TimeInterval? {
        configuration.loopStart.map { $0 + Double(loop.now.nanoseconds) / 1_000_000_000 }
    }

    /// Sends a notice to the user.
    func tell(_ notice: SystemNotice) {
        observers.tell(.notices, .noticed(notice))
    }

    /// Reports a mistake to the developer of an app (behaviour 1.26).
    func misuse(_ text: String, by subject: Observation.Subject) {
        observers.tell(.misuse, .misused(text, isToldToApp: false), of: subject)
    }

    /// Reports a problem that apps do not notice.
    package func trouble(_ text: @autoclosure () -> String, _ weight: HappeningWeight = .warning) {
        observers.tell(.trouble, .trouble(text(), weight))
    }
}

// MARK: - Managers

extension BluetoothSystem {
    var centrals: [CentralSession] { managers.compactMap { $0.session as? CentralSession } }
    var peripherals: [PeripheralSession] { managers.compactMap { $0.session as? PeripheralSession } }

    /// Creates the session of a manager, without an initial event.
    func makeSession(_ key: ManagerKey, of manager: AppManager) -> any ManagerSession {
        switch manager.role {
        case .central: CentralSession(key, of: manager, system: self)
        case .peripheral: PeripheralSession(key, of: manager, system: self)
        }
    }

    /// The apps that have managers. An app occurs once for each of its managers.
    var apps: [AppIdentity] { managers.map(\.app) }

    /// Returns the managers of an app, the oldest first.
    func sessions(of app: AppIdentity) -> [any ManagerSession] {
        managers.filter { $0.app == app }.map(\.session)
    }

    /// The number of managers of each app.
    var managersByApp: [(app: AppIdentity, count: Int)] { managerCounts.map { ($0.key, $0.value) } }

    /// Returns how much of a shared resource the managers of each app have.
    func holdings(_ held: KeyPath<Holdings, Int>) -> [(app: AppIdentity, count: Int)] {
        managers.map { ($0.app, $0.session.holdings[keyPath: held]) }
    }

    func nextManagerNumber() -> UInt64 {
        lastManager += 1
        return lastManager
    }

    func nextInFront() -> UInt64 {
        lastInFront += 1
        return lastInFront
    }

    /// Adds a manager and reports the state to it, at once or when it is known.
    func add(_ session: any ManagerSession, _ key: ManagerKey, of app: AppIdentity) {
        managers.append((key, app, session))
        managerCounts[app, default: 0] += 1
        noteChange(of: app)
        if state(for: app) != .unknown { session.stateChanged(to: state(for: app)) }
    }

    func remove(_ session: any ManagerSession) {
        guard let index = managers.firstIndex(where: { $0.session === session }) else { return }
        let app = managers.remove(at: index).app
        managerCounts[app] = managerCounts[app].flatMap { $0 > 1 ? $0 - 1 : nil }
        noteChange(of: app)
    }

    /// Returns the manager with this key.
    func manager(_ key: ManagerKey) -> (any ManagerSession)? {
        managers.first { $0.key == key }?.session
    }

    func setState(_ new: ManagerState) {
        guard new != state else { return }
        state = new
        // Cached tables do not survive power off (behaviour 4.12).
        if new == .poweredOff { forgetTables() }
        observers.tell(.state, .stateChanged(new))
        tellStates()
    }

    func tellStates() {
        for (_, app, session) in managers where session.state != state(for: app) {
            preserved[app]?.willChangeState(of: session)
            session.stateChanged(to: state(for: app))
        }
        for app in preservedApps { app.radioIsBack() }
    }
}
