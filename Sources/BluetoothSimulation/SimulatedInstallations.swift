import BluetoothService
import CoreBluetooth
import Dispatch
import EventLoops
import ServiceMessages
import Synchronization

/// The reason for the launch of an installed app.
public struct AppLaunch: Hashable, Sendable {
    /// Whether the system has launched the app in the background, and not the person.
    public var isInBackground: Bool
    /// The restore identifiers of the managers that the app is launched for. It has to create managers with these
    /// identifiers at once (behaviour 10.6).
    public var restoring: RestoreIdentifiers
}

/// The apps that a device can launch. Used on the loop only.
final class SimulatedInstallations: AppLauncher {
    typealias Main = @Sendable (SimulatedApp, AppLaunch) -> any Sendable

    /// The maximum number of installed apps.
    static let maximumApps = 256

    private struct Installation {
        let declaration: AppDeclaration
        let main: Main
    }

    private var installations: [String: Installation] = [:]
    /// The last launch of each app, without a handle of the device, which would retain the world forever.
    private var launched: [String: SimulatedApp.Process] = [:]
    /// Creates a handle of the device. Nil if the world was released.
    var device: () -> SimulatedDevice? = { nil }

    /// The last launch of an app.
    func lastLaunch(of name: String) -> SimulatedApp? {
        guard let process = launched[name], let device = device() else { return nil }
        return SimulatedApp(name: name, device: device, process: process)
    }

    func install(_ name: String, _ declaration: AppDeclaration, _ main: @escaping Main) {
        precondition(
            installations[name] != nil || installations.count < Self.maximumApps,
            "a simulated device can have at most \(Self.maximumApps) installed apps"
        )
        installations[name] = Installation(declaration: declaration, main: main)
    }

    func launch(_ app: AppIdentity, restoring managers: RestoreIdentifiers) {
        if launch(app.name, AppLaunch(isInBackground: true, restoring: managers)) == nil {
            device()?.parts.value.system.launchEnded(app)
        }
    }

    /// Runs an app. Nil if none of this name is installed.
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
        parts.with { $0.apps.install(name, declaration) { main($0, $1) } }
    }

    /// Brings an installed app to the front, as the person does, and launches it if it is not running.
    ///
    /// May be called from any thread.
    ///
    /// - Parameter name: The name of the app.
    /// - Returns: The app, or nil if none of this name is installed.
    @discardableResult
    public func open(_ name: String) -> SimulatedApp? {
        parts.with { parts in
            if let app = parts.apps.lastLaunch(of: name), app.connection.enter() { return app }
            let restoring = parts.system.identifiersToRestore(of: AppIdentity(name: name))
            return parts.apps.launch(name, AppLaunch(isInBackground: false, restoring: restoring))
        }
    }

    /// Returns the last launch of an installed app, or nil before the first.
    ///
    /// - Parameter name: The name of the app.
    public func app(_ name: String) -> SimulatedApp? {
        parts.with { $0.apps.lastLaunch(of: name) }
    }
}
