import ServiceMessages

@testable import BluetoothService

/// Records the launches of apps. It starts no process, so the test does what a launched process would do.
final class LaunchLog: AppLauncher {
    private(set) var launches: [(app: String, managers: RestoreIdentifiers)] = []
    /// Whether each launch ends at once without a process.
    var isBroken = false
    private weak var system: BluetoothSystem?

    /// Becomes the launcher of `system`, which does not retain it.
    func serve(_ system: BluetoothSystem) {
        self.system = system
        system.apps.preservation.launcher = self
    }

    func launch(_ app: AppIdentity, restoring managers: RestoreIdentifiers) {
        launches.append((app.name, managers))
        if isBroken { system?.apps.preservation.launchEnded(app) }
    }
}
