import BluetoothService
import BluetoothTypes
import CapturePlayback
import EventLoops
import Foundation
import HCI
import LinkLayer
import Logging
import Security
import ServiceMessages

/// A device of a ``SimulatedWorld``: a virtual controller, and the Bluetooth system that its apps share.
///
/// The device stays in its world even if you release this object. All methods may be called from any thread.
public final class SimulatedDevice: Sendable {
    /// The packets and the radio time of a device.
    public struct Traffic: Hashable, Sendable {
        /// The number of HCI packets from the host to the controller.
        public var packetsToController = 0
        /// The number of HCI packets from the controller to the host.
        public var packetsToHost = 0
        /// The time for which the transmitter was on.
        public var sending = Duration.zero
        /// The time for which the receiver was on.
        public var listening = Duration.zero
    }

    /// The name of the device, also its GAP device name.
    public let name: String
    /// The world of the device.
    public let world: SimulatedWorld
    /// The person who answers the device's alerts.
    public let person: SimulatedPerson

    private let parts: LoopBound<DeviceParts>

    /// Adds a device to a world. Called on the loop.
    init(
        named name: String,
        in world: SimulatedWorld,
        at position: Position,
        options: DeviceOptions,
        number controllerNumber: UInt64?,
        playing playback: Playback?,
        configuration: SystemConfiguration,
        bonds: (any BondStorage)?,
        capture: (@Sendable ([UInt8]) -> Void)?
    ) {
        self.name = name
        self.world = world
        let loop = world.loop
        let state = world.state.value
        let number = state.nextNumber(playback?.number)
        let random = state.random.split(number)
        let kind = Self.controller(controllerNumber ?? number, options)
        let log = PacketLog(calendarStart: world.calendarStart, write: capture)
        let socket = ControllerSocket(
            "the simulated device \(name)",
            node: state.radio.add(at: position),
            loop: loop,
            random: random.split(1),
            configuration: kind,
            playing: playback?.capture,
            log: log
        )
        let attention = Attention(at: name, on: loop)
        let apps = SimulatedInstallations()
        let systems = random.split(2)
        let memory = configuration.store == .memory ? MemoryBondStorage(secret: random.split(3)) : nil
        let logger = Self.logger(of: name, in: world)
        let makeSystem = Self.systems(logger, on: socket, loop, systems, configuration, bonds ?? memory)
        let parts = DeviceParts(socket: socket, log: log, attention: attention, apps: apps, makeSystem: makeSystem)
        parts.observe = { [weak state] in state?.observe($0, of: name) }
        parts.begin()
        attention.note = { [weak state] in state?.report(.changed($0), of: name) }
        person = SimulatedPerson(attention, loop: loop)
        // The device stays in the world, even if this handle is released.
        state.devices.append(parts)
        state.names[parts.node.id] = name
        self.parts = LoopBound(parts, loop: loop)
        apps.device = { [weak world, weak parts, person] in
            guard let world, let parts else { return nil }
            return SimulatedDevice(named: name, in: world, of: person, parts)
        }
    }

    /// Creates another handle of a device. Called on the loop.
    private init(named name: String, in world: SimulatedWorld, of person: SimulatedPerson, _ parts: DeviceParts) {
        self.name = name
        self.world = world
        self.person = person
        self.parts = LoopBound(parts, loop: world.loop)
    }

    /// Returns a function that creates the systems of a device, one after the other.
    private static func systems(
        _ logger: Logger,
        on socket: ControllerSocket,
        _ loop: any EventLoop,
        _ random: RandomSource,
        _ configuration: SystemConfiguration,
        _ storage: (any BondStorage)?
    ) -> (BluetoothAddress?) -> BluetoothSystem {
        var starts: UInt64 = 0
        return { address in
            defer { starts += 1 }
            var configuration = configuration
            // An address that never changes belongs to the device, not to one of its systems.
            if configuration.address == .staticRandom, let address { configuration.address = .fixed(address) }
            return BluetoothSystem(
                controllers: socket.source,
                loop: loop,
                random: starts == 0 ? random : random.split(starts),
                configuration: configuration,
                bonds: storage,
                logger: logger
            )
        }
    }

    static func logger(of name: String, in world: SimulatedWorld) -> Logger {
        var logger = Logger(label: "harald.\(name)")
        logger.logLevel = .warning
        logger[metadataKey: "seed"] = "\(world.seed)"
        if let name = world.name { logger[metadataKey: "world"] = "\(name)" }
        return logger
    }

    private static func controller(_ number: UInt64, _ options: DeviceOptions) -> VirtualControllerConfiguration {
        // Locally administered, so that it is no manufacturer's address.
        var kind = VirtualControllerConfiguration(
            publicAddress: .init(0x0248_5244_0000 + number, kind: .publicDevice)
        )
        if !options.hasExtendedAdvertising { kind.features.remove(.extendedAdvertising) }
        kind.quirks = options.quirks
        if options.channelSounding != .unsupported { kind.addChannelSounding() }
        kind.antennas = UInt8(clamping: min(max(options.antennas, 1), 4))
        return kind
    }

    /// Launches an app on the device.
    ///
    /// Core Bluetooth objects that `body` creates belong to the app, and so do those that are created in their
    /// callbacks. The device keeps the result of `body` until the process of the app ends.
    ///
    /// The app is in the foreground. The system cannot launch it again; see ``install(_:declaring:_:)`` for apps that
    /// it can. What is preserved of the app when its process ends is therefore discarded 10 s later, unless the app is
    /// launched again by then (behaviour 10.27).
    ///
    /// - Parameters:
    ///   - name: The name of the app, which identifies it.
    ///   - declaration: The contents of its `Info.plist`.
    ///   - body: Creates the app's objects, on the caller's thread.
    /// - Returns: The result of `body`.
    /// - Throws: The error of `body`.
    @discardableResult
    public func launch<App>(
        _ name: String,
        declaring declaration: AppDeclaration = AppDeclaration(),
        _ body: (SimulatedApp) throws -> App
    ) rethrows -> App {
        let app = world.loop.waitFor { [self] in
            openOnLoop(name, declaration, AppLaunch(isInBackground: false, restoring: RestoreIdentifiers()))
        }
        let objects = try ServiceLocator.$current.withValue(app.connection) { try body(app) }
        let kept = LoopBound<Any>(keeping: objects, loop: world.loop)
        parts.with { parts in
            parts.apps.note(app.process, of: name)
            guard !app.connection.hasEnded else { return }
            app.process.inner.value.keep(kept)
            parts.keep(app.process)
        }
        return objects
    }

    /// Creates a new process of an app. Called on the loop.
    func openOnLoop(_ name: String, _ declaration: AppDeclaration, _ launch: AppLaunch) -> SimulatedApp {
        let (system, loop) = (parts.value.system, world.loop)
        let connection = system.openApp(
            AppIdentity(name: name),
            declaring: declaration,
            inBackground: launch.isInBackground,
            launchedFor: launch.isInBackground ? launch.restoring : RestoreIdentifiers(),
            at: SimulatedPlace(app: name, device: self.name, seed: world.seed, world: world.name)
        )
        let process = SimulatedProcess(loop: loop)
        process.connection = connection
        connection.runs(in: process)
        parts.value.note(connection)
        let bound = LoopBound(process, loop: loop)
        if let virtual = loop as? VirtualEventLoop, world.appsFollowTime {
            let time = SimulatedTime(bound, connection, loop: virtual, start: world.calendarStart)
            connection.follow(AppTimekeeper(time))
        }
        let executor = SimulatedExecutor("\(self.name).\(name)", of: bound)
        let launched = SimulatedApp.Process(connection: connection, inner: bound, executor: executor)
        return SimulatedApp(name: name, device: self, process: launched)
    }

    /// Installs an app, so that ``open(_:)`` and the system can launch it (behaviours 10.4, 10.6).
    ///
    /// A second call with the same name replaces the app for later launches. May be called from any thread.
    ///
    /// - Parameters:
    ///   - name: The name of the app, which identifies it.
    ///   - declaration: The contents of its `Info.plist`.
    ///   - main: The code of the app. It runs at each launch, on a queue of its own, and creates the app's objects. Its
    ///     result is retained as long as the process exists.
    /// - Precondition: The device has fewer than 256 installed apps.
    public func install<App: Sendable>(
        _ name: String,
        declaring declaration: AppDeclaration = AppDeclaration(),
        _ main: @escaping @Sendable (SimulatedApp, AppLaunch) -> App
    ) {
        parts.with { $0.apps.install(name, declaration, on: nil) { main($0, $1) } }
    }

    func install(onMainQueue name: String, _ declaration: AppDeclaration, _ main: @escaping SimulatedInstallations.Main)
    {
        parts.with { $0.apps.install(name, declaration, on: .main, main) }
    }

    /// Brings an installed app to the front, as the person does, and launches it if it is not running.
    ///
    /// May be called from any thread.
    ///
    /// - Parameter name: The name of the app.
    /// - Returns: The app, or nil if none of this name is installed.
    @discardableResult
    public func open(_ name: String) -> SimulatedApp? {
        parts.with { [self] parts in
            if let app = parts.apps.lastLaunch(of: name), app.connection.enter() { return app }
            let restoring = parts.system.apps.preservation.identifiersToRestore(of: AppIdentity(name: name))
            let app = parts.apps.launch(name, AppLaunch(isInBackground: false, restoring: restoring))
            if app == nil { ignored("open(\"\(name)\"): no app of this name is installed") }
            return app
        }
    }

    /// Returns the last launch of an app, or nil before the first.
    ///
    /// - Parameter name: The name of the app.
    public func app(_ name: String) -> SimulatedApp? {
        parts.with { $0.apps.lastLaunch(of: name) }
    }

    /// Returns the objects that the code of a running app has created: the result of the closure of
    /// ``install(_:declaring:_:)`` or ``launch(_:declaring:_:)``.
    ///
    /// The code of an installed app runs as soon as time passes in the world.
    ///
    /// - Parameters:
    ///   - name: The name of the app.
    ///   - type: The type of the objects.
    /// - Returns: The objects; nil if the app is not running, its code has not run yet, or they are of another type.
    public func app<Objects: Sendable>(_ name: String, as type: Objects.Type) -> Objects? {
        parts.with { $0.apps.lastLaunch(of: name)?.process.inner.value.objects(as: type) }
    }

    /// Records that the launch of an app has ended. Called on the loop.
    func launchEnded(_ app: AppIdentity) {
        parts.value.system.apps.preservation.launchEnded(app)
    }

    /// Adds an observer of the lifecycles of the device's apps.
    ///
    /// - Parameter observer: Called on the loop with the name of an app and its new phase.
    public func watchApps(_ observer: @escaping @Sendable (_ app: String, AppPhase) -> Void) {
        parts.with { $0.watchApps(observer) }
    }

    /// Switches Bluetooth on or off, as the person does.
    ///
    /// - Parameters:
    ///   - isOn: Whether Bluetooth is on.
    ///   - powerSwitch: The switch that the person uses (behaviours 1.17, 10.16).
    public func setPower(_ isOn: Bool, by powerSwitch: PowerSwitch = .settings) {
        withSystem { [self] in
            note("the user switches Bluetooth \(isOn ? "on" : "off")")
            $0.controllers.setPower(isOn, by: powerSwitch)
        }
    }

    /// Sets an app's permission to use Bluetooth, without a question and without ending the app.
    ///
    /// Until then it is ``DeviceOptions/permission``. `CBManager.authorization` shows it to the app. To change it as in
    /// the settings, use ``SimulatedPerson/changesPermission(ofApp:to:)``.
    ///
    /// - Parameters:
    ///   - permission: The permission.
    ///   - name: The name of the app.
    public func setPermission(_ permission: AppPermission, forApp name: String) {
        withSystem { $0.apps.permissions.set(permission, for: AppIdentity(name: name)) }
    }

    /// Makes an app's permission undetermined: the person is asked when the app next creates a manager
    /// (behaviour 1.18).
    ///
    /// - Parameter name: The name of the app.
    public func resetPermission(ofApp name: String) {
        withSystem { $0.apps.permissions.reset(AppIdentity(name: name)) }
    }

    /// Unplugs the controller, or plugs it in again. Connected devices get no notice: their links time out.
    ///
    /// - Parameter isPluggedIn: Whether the controller is plugged in.
    public func setController(isPluggedIn: Bool) {
        parts.with { [self] in
            guard $0.setController(isPluggedIn: isPluggedIn) else {
                return ignored("the controller is \(isPluggedIn ? "plugged in" : "unplugged") already")
            }
            note("the controller is \(isPluggedIn ? "plugged in" : "unplugged")")
        }
    }

    /// Moves the device.
    ///
    /// - Parameter position: The new position, in metres.
    public func move(to position: Position) {
        parts.with { [self] in
            $0.node.position = position
            note("moves to \(position.text)")
        }
    }

    // MARK: Faults

    /// A distance at which no device hears another one, in metres.
    private static let farAway = 1_000_000.0

    /// The fault in this device's answers to requests for its attributes; nil for none. Changes apply to later answers.
    public var answerFault: AnswerFault? {
        get { parts.with { $0.socket.answerFault } }
        set {
            parts.with { [self] in
                $0.socket.answerFault = newValue
                note(newValue?.words ?? "answers requests correctly")
            }
        }
    }

    /// Takes the device out of the range of all others, until ``returnToRange()``. Its links time out.
    public func leaveRange() {
        parts.with { [self] in
            $0.leaveRange(to: Position(x: Self.farAway))
            note("leaves the range of the others")
        }
    }

    /// Brings the device back to where it was before ``leaveRange()``.
    public func returnToRange() {
        parts.with { [self] in
            guard $0.returnToRange() else { return ignored("returnToRange(): \(name) is in range already") }
            note("is back at \($0.node.position.text)")
        }
    }

    /// Makes packets between this device and all others get lost, in both directions.
    ///
    /// - Parameter share: The share of packets that are lost, from 0 to 1; nil for none beside those that the radio
    ///   channel loses.
    public func losePackets(_ share: Double?) {
        let quality = share.map { AirQuality(lossRate: $0) }
        onLoop { [self] in
            setQuality(quality, channel: nil, of: $0.node)
            note(share.map { "loses \(Int(($0 * 100).rounded())) % of its packets" } ?? "loses no packets any more")
        }
    }

    /// Jams a channel between this device and all others, in both directions, or ends that.
    ///
    /// - Parameters:
    ///   - isJammed: Whether nothing is received on the channel.
    ///   - channel: A channel index, from 0 to 39.
    public func setJam(_ isJammed: Bool, channel: UInt8) {
        let quality = isJammed ? AirQuality(lossRate: 1) : nil
        onLoop { [self] in
            setQuality(quality, channel: channel, of: $0.node)
            let verb = isJammed ? "neither hears nor is heard" : "hears and is heard again"
            note("\(verb) on channel \(channel)\(isJammed ? ", which is jammed" : "")")
        }
    }

    private func setQuality(_ quality: AirQuality?, channel: UInt8?, of node: RadioNode) {
        let world = world.state.value
        for other in world.devices.map(\.node) where other !== node {
            world.radio.setQuality(quality, from: node, to: other, channel: channel)
            world.radio.setQuality(quality, from: other, to: node, channel: channel)
        }
    }

    /// Changes the private address at once, as after ``DeviceOptions/addressLifetime``.
    public func changeAddress() {
        withSystem { [self] in
            note("changes its address")
            $0.controllers.changeAddress()
        }
    }

    /// Erases the bonds of the device and starts it again, as its owner does before a sale. Peers keep their bonds.
    public func resetToFactorySettings() {
        for peer in pairedPeers { forget(peer.identifier) }
        restart()
    }

    /// Switches the device off and on again.
    ///
    /// All processes of apps end, and the controller loses its state. The system starts anew with the contents of the
    /// device's storage: bonds, the preserved state of apps, and their permissions (behaviours 10.15, 10.18). Installed
    /// apps are launched again for the events that they were preserved for. Connected devices get no notice: their
    /// links time out.
    ///
    /// The call returns when the system has started. May be called from any thread.
    ///
    /// - Parameter isLocked: Whether the device asks for a passcode. Then the system launches no app until
    ///   ``SimulatedPerson/unlocks()`` (behaviour 10.24).
    public func restart(isLocked: Bool = false) {
        parts.with { [self] in
            note("restarts\(isLocked ? ", and asks for the passcode" : "")")
            $0.restart(isLocked: isLocked)
        }
    }

    /// Passes on what the device measures as reflector of Channel Sounding, for its Ranging Service, also after a restart.
    ///
    /// - Parameter observer: Called on the loop with the counter of a procedure and its Ranging Data (RAS 1.0 3.2.1).
    package func watchReflections(_ observer: @escaping @Sendable (UInt16, [UInt8]) -> Void) {
        parts.with { $0.watchReflections(observer) }
    }

    /// The address that the device is advertising with, as captures show it; nil while it is not advertising.
    public var advertisedAddress: String? {
        withSystem { $0.controllers.advertisedAddress.map { "\($0)" } }
    }

    /// How often the controller has shown each of ``DeviceOptions/quirks`` so far.
    public var quirksShown: [ControllerQuirk: Int] { parts.with { $0.socket.quirksShown } }

    /// The packets and the radio time of the device so far.
    public var traffic: Traffic { parts.with { $0.traffic } }

    /// Runs `body` with the device's current system on the loop and returns its result. From any thread.
    @discardableResult
    package func withSystem<Result: Sendable>(_ body: @escaping @Sendable (BluetoothSystem) -> Result) -> Result {
        parts.with { body($0.system) }
    }

    /// Runs `body` with the parts of the device on the loop. From any thread.
    func onLoop<Result: Sendable>(_ body: @escaping @Sendable (DeviceParts) -> Result) -> Result { parts.with(body) }

    // MARK: On the loop

    var attention: Attention { parts.value.attention }

    var node: RadioNode { parts.value.node }

    /// Wraps the host's end of each transport from now on, as tests of failing controllers do.
    func interpose(_ wrap: @escaping (any HCITransport) -> any HCITransport) {
        parts.value.socket.interpose = wrap
    }
}
