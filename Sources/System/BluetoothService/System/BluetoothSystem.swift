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
    package let places: AppPlaces
    /// Tells what the apps cost the battery. Nil unless the user of the service asks for it.
    package var energySource: (any EnergySource)?
    package private(set) var troubles = TroubleList()
    package let tap: PacketTap

    package let peers: Peers
    package private(set) lazy var controllers = Controllers(
        source,
        loop: loop,
        observers: observers,
        tap: tap,
        advertisingException: configuration.advertising,
        airplaneMode: AirplaneMode(mayLeaveBluetooth: configuration.version.has(.airplaneModeWithBluetooth)),
        makeDevice: { [unowned self] in makeDevice(on: $0) }
    )
    package private(set) lazy var links = SharedLinks(
        configuration,
        loop: loop,
        observers: observers,
        peers: peers,
        controllers: controllers,
        managers: managers,
        served: attributes.centrals,
        enhancedBearers: enhancedBearers
    )
    package private(set) lazy var apps = Apps(links, scan) { [unowned self] in makeSession($0, of: $1) }
    private lazy var scan = SharedScan(links)
    let managers = ManagerTable()
    let attributes: LocalAttributes
    let advertising = AdvertisingArbiter()
    /// The servers of the L2CAP channels that apps publish.
    let channels = ChannelServers()
    /// Accepts the enhanced bearers that peers open, if the configuration allows them.
    let enhancedBearers: EnhancedBearerListener?

    /// Ends a switch-off in Control Centre.
    private var switchOn: ScheduledTask?
    private let source: ControllerSource
    private let random: RandomSource
    private let identity: DeviceIdentity

    /// The address of a system without private ones, for the next system of the device. Nil before its first use.
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
        controllers.onAttach = { [weak self] in self?.willStart($0) }
        controllers.onSwitch = { [weak self] in self?.userWillSwitch($0, by: $1) }
        controllers.onAirplaneMode = { [weak self] in self?.apps.preservation.discard(after: .airplaneMode) }
        controllers.onState = { [weak self] in self?.radioStateChanged($0, isNew: $1) }
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

    /// Ends advertising and all links, so that peers learn it at once, then stops the system as ``stop(_:)`` does.
    package func leave(_ completion: @escaping () -> Void = {}) {
        guard let device = controllers.device else { return stop(completion) }
        apps.stop()
        controllers.advertise(nil)
        device.disconnectAll(within: Self.leaveLimit) { [self] in stop(completion) }
    }

    var centrals: [CentralSession] { managers.sessions() }
    var peripherals: [PeripheralSession] { managers.sessions() }
}

// MARK: - Radio

extension BluetoothSystem {
    /// Starts a scan that runs whenever Bluetooth is on, beside the scans of apps. It replaces an open scan before it.
    package func begin(_ openScan: OpenScan) { scan.use(openScan) }

    /// Ends the open scan, without a call of its `onEnd`.
    package func endOpenScan() { scan.use(nil) }

    /// Connects for a tool, beside the links of apps. It replaces an open link that is still being established.
    package func begin(_ openLink: OpenLink) { links.use(openLink) }

    /// Why the controller does not search for peers now; nil if it does.
    package var connectionRefusal: GAPError? { controllers.device?.connector.refusal }

    private func makeDevice(on host: HCIHost) -> GenericAccess {
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

    private func willStart(_ controller: AttachedController) {
        controller.device.openBonds = { [weak peers] in peers?.openBonds(for: $0) }
        links.follow(controller.device)
        controller.advertisement.onStarted = { [weak advertising] in advertising?.started() }
        controller.advertisement.onFailed = { [weak advertising] in advertising?.failed($0) }
    }

    /// Called when the user switches Bluetooth on or off, before the switch has any effect.
    private func userWillSwitch(_ isOn: Bool, by powerSwitch: PowerSwitch) {
        if let switchOn = switchOn.take() { loop.cancel(switchOn) }
        guard !isOn else { return }
        apps.preservation.discard(after: .switchedOff(powerSwitch))
        guard isTemporary(powerSwitch), let pause = configuration.timeUntilFive(from: loop.now) else { return }
        switchOn = loop.schedule(after: pause) { [weak self] in
            self?.switchOn = nil
            self?.controllers.setPower(true, by: .controlCentre)
        }
    }

    /// Whether a switch-off ends by itself (behaviour 1.17).
    private func isTemporary(_ powerSwitch: PowerSwitch) -> Bool {
        powerSwitch == .controlCentre && configuration.version.has(.temporarySwitchOff)
    }

    /// Whether Bluetooth is still off after a restart of the device, because a switch-off in Control Centre lasts in this
    /// version (behaviour 1.17). One in Settings ends with the simulated device.
    package var staysOff: Bool { controllers.switchedOffBy == .controlCentre && !isTemporary(.controlCentre) }

    /// Called when the state of the radio has been determined, which may be the same as before.
    private func radioStateChanged(_ state: ManagerState, isNew: Bool) {
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

// MARK: - Apps

extension BluetoothSystem {
    private func makeSession(_ key: ManagerKey, of manager: AppManager) -> any ManagerSession {
        switch manager.role {
        case .central: CentralSession(key, of: manager, links, scan)
        case .peripheral: PeripheralSession(key, of: manager, links, attributes, advertising, channels)
        case .accessorySetup: AccessorySetupSession(key, of: manager, apps.accessories, links, scan)
        case .activities: ActivitySession(of: manager)
        }
    }

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

    /// Connects an app that runs in another process, until its life cycle is notified of the end of the process.
    package func makeApp(
        _ identity: AppIdentity,
        declaring declaration: AppDeclaration,
        of program: AppProgram = AppProgram(),
        inBackground: Bool = false
    ) -> App {
        apps.make(identity, declaration, of: program, inBackground: inBackground, keeping: self)
    }
}
