import BluetoothService
import CoreBluetooth
import Dispatch
import EventLoops
import Synchronization

/// Why the code of an installed app is called.
public struct AppLaunch: Hashable, Sendable {
    /// Whether the system has launched it, in the background, and not the person.
    public var isInBackground: Bool
    /// The managers that it is launched for; it is to make those with the same restore identifiers, at once (behaviour 10.6).
    public var restoring: RestoreIdentifiers
}

/// The apps that a device can launch by itself. On the loop.
final class InstalledApps: AppLauncher {
    typealias Main = @Sendable (SimulatedApp, AppLaunch) -> any Sendable

    /// Apps that a device has room for.
    static let maximumApps = 256

    private struct Installation {
        let declaration: AppDeclaration
        let main: Main
    }

    private var installations: [String: Installation] = [:]
    /// The last launch of each app, without a handle of the device, which would keep the world alive for ever.
    private var launched: [String: SimulatedApp.Process] = [:]
    /// Makes a handle of the device; nil when the world is gone.
    var device: () -> SimulatedDevice? = { nil }

    /// The last launch of an app.
    func lastLaunch(of name: String) -> SimulatedApp? {
        guard let process = launched[name], let device = device() else { return nil }
        return SimulatedApp(name: name, device: device, process: process)
    }

    func install(_ name: String, _ declaration: AppDeclaration, _ main: @escaping Main) {
        precondition(
            installations[name] != nil || installations.count < Self.maximumApps,
            "a simulated device has room for \(Self.maximumApps) apps"
        )
        installations[name] = Installation(declaration: declaration, main: main)
    }

    func launch(_ app: AppIdentity, restoring managers: RestoreIdentifiers) {
        if launch(app.name, AppLaunch(isInBackground: true, restoring: managers)) == nil {
            device()?.parts.value.system.launchEnded(app)
        }
    }

    /// Runs an app; nil when there is none of this name.
    func launch(_ name: String, _ launch: AppLaunch) -> SimulatedApp? {
        guard let installation = installations[name], let device = device() else { return nil }
        let app = device.openOnLoop(name, installation.declaration, launch)
        launched[name] = app.process
        let main = installation.main
        app.process.inner.value.begin(on: DispatchQueue(label: "\(device.name).\(name).main")) {
            ServiceLocator.$current.withValue(app.connection) { main(app, launch) }
        }
        return app
    }
}

extension SimulatedDevice {
    /// Installs an app, so that the person can open it (``open(_:)``) and the system can launch it for what it has preserved
    /// (behaviours 10.4, 10.6).
    ///
    /// - Parameters:
    ///   - declaration: What its `Info.plist` says.
    ///   - main: Runs at each launch, on a queue of the app's own, and makes the app's objects; what it returns is kept as long as the
    ///     process is there.
    public func install<App: Sendable>(
        _ name: String,
        declaring declaration: AppDeclaration = AppDeclaration(),
        _ main: @escaping @Sendable (SimulatedApp, AppLaunch) -> App
    ) {
        parts.with { $0.apps.install(name, declaration) { main($0, $1) } }
    }

    /// The person opens an installed app: it comes to the front, and is launched if it does not run.
    ///
    /// - Returns: The app; nil when none of this name is installed.
    @discardableResult
    public func open(_ name: String) -> SimulatedApp? {
        parts.with { parts in
            if let app = parts.apps.lastLaunch(of: name), app.connection.enter() { return app }
            let restoring = parts.system.identifiersToRestore(of: AppIdentity(name: name))
            return parts.apps.launch(name, AppLaunch(isInBackground: false, restoring: restoring))
        }
    }

    /// The last launch of an installed app; nil before the first.
    public func app(_ name: String) -> SimulatedApp? {
        parts.with { $0.apps.lastLaunch(of: name) }
    }
}
