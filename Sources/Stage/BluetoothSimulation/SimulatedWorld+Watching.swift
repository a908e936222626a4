import BluetoothService
import EventLoops
import LinkLayer
import Logging

extension SimulatedWorld {
    /// An observer of a world, and the kinds of events in systems that it receives.
    struct Watcher {
        let kinds: Observation.Kinds
        let receive: @Sendable (_ device: String, WorldEvent) -> Void
    }

    /// Adds an observer of the world: of all its devices, also later ones, and over restarts.
    ///
    /// - Parameters:
    ///   - kinds: The kinds of events in systems. Calls are always reported.
    ///   - observer: Called on the loop with the name of the device. The name is empty for the radio channel.
    package func watch(
        _ kinds: Observation.Kinds,
        _ observer: @escaping @Sendable (_ device: String, WorldEvent) -> Void
    ) {
        state.with { $0.add(Watcher(kinds: kinds, receive: observer)) }
    }

    /// The devices of the world, in the order in which they were added.
    package var devices: [SimulatedDevice] {
        state.with { $0.devices.compactMap { $0.apps.device() } }
    }

    /// The names of devices about whose apps no advice is given.
    package var devicesWithoutAdvice: Set<String> {
        state.with { $0.unadvised }
    }

    /// Leaves the apps of a device out of advice, because they are not the user's: those that play accessories.
    package func leaveOutOfAdvice(_ device: SimulatedDevice) {
        state.with { _ = $0.unadvised.insert(device.name) }
    }

    /// Ends all processes of apps and switches all devices off, for good.
    ///
    /// Apps that hold a ``SimulatedApp`` or a ``SimulatedDevice`` keep their world in memory until then.
    public func end() {
        state.with {
            for device in $0.devices { device.end() }
            $0.watchers = []
        }
    }
}

extension SimulatedWorld.State {
    func add(_ watcher: SimulatedWorld.Watcher) {
        watchers.append(watcher)
        for device in devices {
            Self.observe(device.system, of: names[device.node.id] ?? "", by: watcher)
        }
    }

    /// Connects the watchers to a new system of a device.
    func observe(_ system: BluetoothSystem, of device: String) {
        for watcher in watchers { Self.observe(system, of: device, by: watcher) }
    }

    private static func observe(_ system: BluetoothSystem, of device: String, by watcher: SimulatedWorld.Watcher) {
        let receive = watcher.receive
        system.observers.add(watcher.kinds) { receive(device, .observed($0)) }
    }

    func report(_ event: WorldEvent, of device: String = "") {
        for watcher in watchers { watcher.receive(device, event) }
    }
}

extension SimulatedDevice {
    /// The names of the apps that the system can launch.
    package var installedApps: [String] { onLoop { $0.apps.installedNames } }
    /// The names of the apps that have been launched.
    package var launchedApps: [String] { onLoop { $0.apps.launchedNames } }

    /// Reports a change of the device. Called on the loop.
    func note(_ text: String) { world.state.value.report(.changed(text), of: name) }

    /// Reports a call without effect, to the log too. Called on the loop.
    func ignored(_ text: String) {
        Self.logger(of: name, in: world).warning("a call had no effect: \(text)")
        world.state.value.report(.ignored(text), of: name)
    }
}

extension Position {
    var text: String { "(\((z == 0 ? [x, y] : [x, y, z]).map(\.shortText).joined(separator: ", ")))" }
}

extension Double {
    /// The number, without a fraction if it has none.
    var shortText: String { Int64(exactly: self).map { "\($0)" } ?? "\(self)" }
}
