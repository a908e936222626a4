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

/// One Bluetooth system: all apps that share a controller, and what is kept of peers. What the system daemon of an Apple device
/// does. It outlasts its controllers: one after the other may be attached to it.
///
/// Lives on its loop; everything is called there. Apps come in through ``openApp(_:)``, whose result may be used from any
/// thread.
package final class BluetoothSystem {
    /// The loop of the system.
    package let loop: any EventLoop
    /// How the system presents itself.
    package let configuration: SystemConfiguration
    /// The last troubles.
    private(set) var troubles = TroubleList()
    /// The state of the radio, as managers see it.
    package internal(set) var state = ManagerState.unknown
    /// Called when there is no controller that works, with what the last one failed of; managers are unsupported then. The
    /// system goes on when there is one again.
    package var onFailure: ((HCIHostError) -> Void)?
    /// Whether a controller has worked so far.
    package internal(set) var hasWorked = false
    /// Asks the person whether and how to pair; without it, every answer is no (AB-A14). Not kept alive.
    package var prompter: (any PairingPrompter)? {
        get { security.prompter }
        set { security.prompter = newValue }
    }
    /// Asks the person whether apps may use Bluetooth; without it the question stays open (behaviour 1.18). Not kept alive.
    package weak var permissionPrompter: (any PermissionPrompter)?
    /// Launches apps that are to hear of something (behaviour 10.4). Not kept alive.
    package weak var launcher: (any AppLauncher)?
    /// Has the processes of apps in hand, for tools that want something of them. Not kept alive.
    package weak var appManagement: (any AppManagement)?
    /// Puts questions to the persons whose tools answer them. Not kept alive.
    package weak var promptDesk: PromptDesk?
    /// What is said of apps in advance; nil for what the configuration says.
    package var permissionRule: ((AppIdentity) -> AppPermission?)? {
        didSet { tellStates() }
    }
    /// Whether the device was started and not unlocked yet: no app is launched for what it has preserved (behaviour 10.24).
    package var isLocked = false {
        didSet { if !isLocked { for app in preservedApps { app.deviceWasUnlocked() } } }
    }
    /// Those who are told what happens. The log is one of them.
    package let observers: Observers

    // What lasts.
    let random: RandomSource
    let keeper: BondKeeper
    let security: DeviceSecurity
    let identity: DeviceIdentity
    let attributes: LocalAttributes
    /// The channels that apps take of peers.
    let channels = ChannelServers()
    /// Takes the enhanced bearers that peers open, if there are to be any.
    let enhancedBearers: EnhancedBearerListener?
    let advertising = AdvertisingArbiter()
    /// The peers that this host knows.
    var peers: PeerTable
    /// The attribute tables of peers that are remembered (behaviours 4.9, 4.10).
    var tables = RecencyTable<UUID, KnownTable>(limit: KnownTable.maximumPeers)
    /// What of them is written down, and whether that is something else than what stands there.
    lazy var writtenTables = TableRecord(run: configuration.run ?? "")
    var hasNewTables = false
    /// Writes down what is kept of apps, and of what the person says.
    let records: RecordKeeper
    /// The apps of which something else may be kept than before; looked at once in a turn of the loop.
    var changedApps: [AppIdentity] = []
    /// The apps that were reported for want of a place on disk.
    var unrecorded: Set<AppIdentity> = []
    /// Whether that is about to happen.
    var isKeeping = false
    /// What was decided of apps, besides what the policy and the configuration say.
    var permissions: [AppIdentity: AppDecision] = [:]
    /// What is kept of apps whose process is gone.
    var preserved: [AppIdentity: PreservedApp] = [:]
    /// Holds back launches of apps whose processes end early.
    lazy var relaunches = makeRelaunches()
    /// The apps of which the person is being asked.
    var asking: Set<AppIdentity> = []
    /// The bonded peers, which are known for as long as they are.
    var bonded: Set<UUID> = []
    /// The peers that somebody holds on to, how often, and the addresses that the scanner keeps for that.
    var held: [UUID: (count: Int, address: BluetoothAddress)] = [:]
    private var managers: [(key: ManagerKey, app: AppIdentity, session: any ManagerSession)] = []
    /// The number of managers by app, for the quota that every new manager is checked against.
    private var managerCounts: [AppIdentity: Int] = [:]
    private var lastManager: UInt64 = 0
    private var lastInFront: UInt64 = 0
    private var launches: [WeakApp] = []

    // What comes and goes.
    let controllers: ControllerSource
    /// What controllers turned out not to be trusted with.
    let controllerMemory = ControllerMemory()
    var power = PowerMachine()
    private var airplaneMode = AirplaneMode()
    var lookAgain: ScheduledTask?
    /// What is done about a controller that fails.
    var recovery = RecoveryLadder()
    var quietTime: ScheduledTask?
    /// The line whose device is being reset, which reset it is, and how long it may take.
    var resettingLine: (any HCITransport)?
    var deviceResets: UInt64 = 0
    var deviceResetTimer: ScheduledTask?
    var lastFailure: HCIHostError?
    /// The controller, with all that the host stack makes of it.
    var attached: AttachedController?
    /// The links that are up, the oldest first.
    var links: [PeerLink] = []

    /// A system on the controllers that a place has, one after the other. It does nothing before ``start()``.
    ///
    /// - Parameters:
    ///   - random: For identifiers, addresses and keys.
    ///   - bonds: Where bonds are, in place of what the configuration says.
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
        // As peripheral Apple's systems take a code in, and ask the person when a central has lost its bond.
        if configuration.pairing.ioCapability == .keyboardDisplay {
            security.policy.capabilityAsPeripheral = .keyboardOnly
        }
        security.policy.lostBondsOfCentrals = .asked
        listen()
    }

    /// A system on the controller behind `transport`, and on no other after it.
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

    /// Goes on with what was kept, and brings the controller up.
    package func start() {
        openRecords()
        handle(.start)
    }

    /// Ends everything, for good, but for what is kept, which stays as it is. `completion` is called once the controller has been told to
    /// be silent, which a program that ends waits for.
    package func stop(_ completion: @escaping () -> Void = {}) {
        let device = attached?.device
        relaunches.stop()
        closeRecords()
        handle(.stop)
        endRecovery()
        closeBonds()
        device.map { $0.whenSilent(completion) } ?? completion()
    }

    /// The user's switch for Bluetooth (behaviours 1.9 to 1.14, 10.15, 10.16).
    package func setPower(_ isOn: Bool, by powerSwitch: PowerSwitch = .settings) {
        airplaneMode.bluetoothWasSwitched(isOn)
        switchPower(isOn, by: powerSwitch)
    }

    /// The user's switch for all radios: where it takes Bluetooth with it, that is as switched off in the settings (behaviours 10.15, 10.23).
    package func setAirplaneMode(_ isOn: Bool) {
        if let isOn = airplaneMode.set(isOn, hasPower: power.isSwitchedOn) { switchPower(isOn, by: .settings) }
    }

    private func switchPower(_ isOn: Bool, by powerSwitch: PowerSwitch) {
        let isKept = powerSwitch == .controlCentre && configuration.version.preservesAcrossSwitches
        if !isOn, !isKept { discardPreserved() }
        handle(.switched(isOn: isOn))
    }

    /// The address that centrals see; nil while nothing is advertised.
    package var advertisedAddress: BluetoothAddress? { attached?.device.advertiser.connectableAddress }

    /// Lets an app in, which was launched by the person, or by the system in the background.
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

    /// Lets in an app whose process is elsewhere. It stays until its life is told that the process has ended.
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

    /// The time by the calendar, if there is one, in seconds since the beginning of 2001, UTC.
    var calendarTime: TimeInterval? {
        configuration.loopStart.map { $0 + Double(loop.now.nanoseconds) / 1_000_000_000 }
    }

    /// Tells the person something.
    func tell(_ notice: SystemNotice) {
        observers.tell(.notices, .noticed(notice))
    }

    /// Tells the developer of an app of a mistake (behaviour 1.26).
    func misuse(_ text: String, by subject: Observation.Subject) {
        observers.tell(.misuse, .misused(text, isToldToApp: false), of: subject)
    }

    /// Tells of something that apps see nothing of.
    package func trouble(_ text: @autoclosure () -> String, _ weight: HappeningWeight = .warning) {
        observers.tell(.trouble, .trouble(text(), weight))
    }
}

// MARK: - Managers

extension BluetoothSystem {
    var centrals: [CentralSession] { managers.compactMap { $0.session as? CentralSession } }
    var peripherals: [PeripheralSession] { managers.compactMap { $0.session as? PeripheralSession } }

    /// A manager's session, which is not told anything yet.
    func makeSession(_ key: ManagerKey, of manager: AppManager) -> any ManagerSession {
        switch manager.role {
        case .central: CentralSession(key, of: manager, system: self)
        case .peripheral: PeripheralSession(key, of: manager, system: self)
        }
    }

    /// Whose managers there are.
    var apps: [AppIdentity] { managers.map(\.app) }

    /// The managers of an app, the oldest first.
    func sessions(of app: AppIdentity) -> [any ManagerSession] {
        managers.filter { $0.app == app }.map(\.session)
    }

    /// The number of managers by app.
    var managersByApp: [(app: AppIdentity, count: Int)] { managerCounts.map { ($0.key, $0.value) } }

    /// What the managers of apps have of something that they share.
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

    /// Adds a manager. It learns the state at once, or when there is one.
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

    /// The manager that has this name.
    func manager(_ key: ManagerKey) -> (any ManagerSession)? {
        managers.first { $0.key == key }?.session
    }

    func setState(_ new: ManagerState) {
        guard new != state else { return }
        state = new
        // What was remembered goes with the power (behaviour 4.12).
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
