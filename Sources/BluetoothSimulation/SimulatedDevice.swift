import BluetoothService
import BluetoothTypes
import Bonds
import EventLoops
import Foundation
import HCI
import LinkLayer
import Logging
import Radio

/// A device of a ``SimulatedWorld``: a virtual controller on the air, and the Bluetooth system that its apps share.
///
/// Everything may be called from any thread.
public final class SimulatedDevice: Sendable {
    /// What the device has sent and received.
    public struct Traffic: Hashable, Sendable {
        /// HCI packets from the host to its controller.
        public var packetsToController = 0
        /// HCI packets from the controller to its host.
        public var packetsToHost = 0
        /// Time with the transmitter on.
        public var sending = Duration.zero
        /// Time with the receiver on.
        public var listening = Duration.zero
    }

    /// What the device is called.
    public let name: String
    /// The world that it is in.
    public let world: SimulatedWorld
    /// Who answers when the device asks whether to pair.
    public let person: SimulatedPerson

    final class Parts {
        let socket: ControllerSocket
        /// The system that runs now; another one after each restart.
        var system: BluetoothSystem
        let log: PacketLog
        let attention: Attention
        let apps: InstalledApps
        /// Makes a system of what lasts: the controller's socket, and what is on the device's storage.
        let makeSystem: () -> BluetoothSystem
        /// Launches that may still run.
        var processes: [WeakProcess] = []
        /// Those who want to know where apps are in their lives.
        var appWatchers: [@Sendable (_ app: String, AppPhase) -> Void] = []

        init(
            socket: ControllerSocket,
            log: PacketLog,
            attention: Attention,
            apps: InstalledApps,
            makeSystem: @escaping () -> BluetoothSystem
        ) {
            self.socket = socket
            self.log = log
            self.attention = attention
            self.apps = apps
            self.makeSystem = makeSystem
            system = makeSystem()
        }
    }

    let parts: LoopBound<Parts>

    /// On the loop.
    init(
        named name: String,
        in world: SimulatedWorld,
        at position: Position,
        options: DeviceOptions,
        number controllerNumber: UInt64?,
        configuration: SystemConfiguration,
        bonds: (any BondStorage)?,
        capture: (@Sendable ([UInt8]) -> Void)?
    ) {
        self.name = name
        self.world = world
        let loop = world.loop
        let state = world.state.value
        let number = UInt64(state.devices.count + 1)
        let random = state.random.split(number)
        let kind = Self.controller(controllerNumber ?? number, options)
        let log = PacketLog(calendarStart: world.calendarStart, write: capture)
        let socket = ControllerSocket(
            "the simulated device \(name)",
            node: state.radio.add(at: position),
            loop: loop,
            random: random.split(1),
            configuration: kind,
            log: log
        )
        let attention = Attention(at: name, on: loop)
        let apps = InstalledApps()
        let systems = random.split(2)
        let memory = configuration.store == .memory ? MemoryBondStorage(secret: random.split(3)) : nil
        let makeSystem = Self.systems(of: name, on: socket, loop, systems, configuration, bonds ?? memory)
        let parts = Parts(socket: socket, log: log, attention: attention, apps: apps, makeSystem: makeSystem)
        parts.begin()
        person = SimulatedPerson(attention, loop: loop)
        // The device stays in the world whether or not somebody holds this handle.
        state.devices.append(parts)
        self.parts = LoopBound(parts, loop: loop)
        apps.device = { [weak world, weak parts, person] in
            guard let world, let parts else { return nil }
            return SimulatedDevice(named: name, in: world, of: person, parts)
        }
    }

    /// Another handle. On the loop.
    private init(named name: String, in world: SimulatedWorld, of person: SimulatedPerson, _ parts: Parts) {
        self.name = name
        self.world = world
        self.person = person
        self.parts = LoopBound(parts, loop: world.loop)
    }

    /// Makes the systems of a device, one after the other.
    private static func systems(
        of name: String,
        on socket: ControllerSocket,
        _ loop: any EventLoop,
        _ random: RandomSource,
        _ configuration: SystemConfiguration,
        _ storage: (any BondStorage)?
    ) -> () -> BluetoothSystem {
        var starts: UInt64 = 0
        return {
            defer { starts += 1 }
            return BluetoothSystem(
                controllers: socket.source,
                loop: loop,
                random: starts == 0 ? random : random.split(starts),
                configuration: configuration,
                bonds: storage,
                logger: logger(of: name)
            )
        }
    }

    private static func logger(of name: String) -> Logger {
        var logger = Logger(label: "harald.\(name)")
        logger.logLevel = .warning
        return logger
    }

    private static func controller(_ number: UInt64, _ options: DeviceOptions) -> VirtualControllerConfiguration {
        // Locally administered, so that no maker's address is taken.
        var kind = VirtualControllerConfiguration(
            publicAddress: .init(0x0248_5244_0000 + number, kind: .publicDevice)
        )
        if !options.hasExtendedAdvertising { kind.features.remove(.extendedAdvertising) }
        kind.quirks = options.quirks
        return kind
    }

    /// Launches an app on the device. Core Bluetooth objects that `body` makes belong to it, and so do those that are made in
    /// their callbacks.
    ///
    /// - Parameters:
    ///   - declaration: What the app's `Info.plist` says.
    ///   - body: Makes the app's objects; what it returns is for the caller to keep.
    public func launch<App>(
        _ name: String,
        declaring declaration: AppDeclaration = AppDeclaration(),
        _ body: (SimulatedApp) throws -> App
    ) rethrows -> App {
        let app = openFromOutside(name, declaration)
        return try ServiceLocator.$current.withValue(app.connection) { try body(app) }
    }

    private func openFromOutside(_ name: String, _ declaration: AppDeclaration) -> SimulatedApp {
        world.loop.waitFor { [self] in
            openOnLoop(name, declaration, AppLaunch(isInBackground: false, restoring: RestoreIdentifiers()))
        }
    }

    /// A new process of an app. On the loop.
    func openOnLoop(_ name: String, _ declaration: AppDeclaration, _ launch: AppLaunch) -> SimulatedApp {
        let (system, loop) = (parts.value.system, world.loop)
        let connection = system.openApp(
            AppIdentity(name: name),
            declaring: declaration,
            inBackground: launch.isInBackground,
            launchedFor: launch.isInBackground ? launch.restoring : RestoreIdentifiers()
        )
        let process = SimulatedProcess(loop: loop)
        process.connection = connection
        connection.runs(in: process)
        parts.value.note(connection)
        let bound = LoopBound(process, loop: loop)
        let executor = SimulatedExecutor("\(self.name).\(name)", of: bound)
        let launched = SimulatedApp.Process(connection: connection, inner: bound, executor: executor)
        return SimulatedApp(name: name, device: self, process: launched)
    }

    /// Tells `observer` each time that an app is somewhere else in its life. Called on the loop.
    public func watchApps(_ observer: @escaping @Sendable (_ app: String, AppPhase) -> Void) {
        parts.with { $0.appWatchers.append(observer) }
    }

    /// The user's switch for Bluetooth.
    public func setPower(_ isOn: Bool, by powerSwitch: PowerSwitch = .settings) {
        let parts = parts
        world.loop.waitFor { parts.value.system.setPower(isOn, by: powerSwitch) }
    }

    /// The user's say on whether an app may use Bluetooth; all may until then. `CBManager.authorization` tells the app.
    public func setPermission(_ permission: AppPermission, forApp name: String) {
        let parts = parts
        world.loop.waitFor { parts.value.system.setPermission(permission, for: AppIdentity(name: name)) }
    }

    /// Forgets what was said of an app: the person is asked when it next makes a manager.
    public func resetPermission(ofApp name: String) {
        let parts = parts
        world.loop.waitFor { parts.value.system.resetPermission(of: AppIdentity(name: name)) }
    }

    /// Pulls the controller out of the device, or puts it back. Whoever was connected finds out by himself.
    public func setController(isPluggedIn: Bool) {
        let parts = parts
        world.loop.waitFor { isPluggedIn ? parts.value.socket.plugIn() : parts.value.socket.unplug() }
    }

    /// Carries the device somewhere else.
    public func move(to position: Position) {
        let parts = parts
        world.loop.waitFor { parts.value.socket.node.position = position }
    }

    /// The address that the device advertises with at this moment, as written in captures; nil while it does not.
    public var advertisedAddress: String? {
        parts.with { $0.system.advertisedAddress.map { "\($0)" } }
    }

    /// How often its controller has misbehaved so far, of what ``DeviceOptions/quirks`` says.
    public var quirksShown: [ControllerQuirk: Int] {
        let parts = parts
        return world.loop.waitFor { parts.value.socket.quirksShown }
    }

    /// What the device has sent and received so far.
    public var traffic: Traffic {
        let parts = parts
        return world.loop.waitFor {
            let air = parts.value.socket.node.airTime
            return Traffic(
                packetsToController: parts.value.log.toController,
                packetsToHost: parts.value.log.toHost,
                sending: .microseconds(air.sending),
                listening: .microseconds(air.listening)
            )
        }
    }
}
