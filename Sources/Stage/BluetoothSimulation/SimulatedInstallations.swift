import BluetoothService
import CoreBluetooth
import Dispatch
import EventLoops
import Foundation
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

    static let maximumApps = 256

    private struct Installation {
        let declaration: AppDeclaration
        /// The queue on which the code runs; nil for one of its own.
        let queue: DispatchQueue?
        let main: Main
    }

    private var installations: [String: Installation] = [:]
    /// The last launch of each app, without a handle of the device, which would retain the world forever.
    private var launched: [String: SimulatedApp.Process] = [:]
    /// Creates a handle of the device. Nil if the world was released.
    var device: () -> SimulatedDevice? = { nil }

    var installedNames: [String] { installations.keys.sorted() }
    var launchedNames: [String] { launched.keys.sorted() }

    func note(_ process: SimulatedApp.Process, of name: String) { launched[name] = process }

    func lastLaunch(of name: String) -> SimulatedApp? {
        guard let process = launched[name], let device = device() else { return nil }
        return SimulatedApp(name: name, device: device, process: process)
    }

    func install(_ name: String, _ declaration: AppDeclaration, on queue: DispatchQueue?, _ main: @escaping Main) {
        precondition(
            installations[name] != nil || installations.count < Self.maximumApps,
            "a simulated device can have at most \(Self.maximumApps) installed apps"
        )
        installations[name] = Installation(declaration: declaration, queue: queue, main: main)
    }

    func launch(_ app: AppIdentity, restoring managers: RestoreIdentifiers) {
        if launch(app.name, AppLaunch(isInBackground: true, restoring: managers)) == nil {
            device()?.launchEnded(app)
        }
    }

    func isInstalled(_ app: AppIdentity) -> Bool { installations[app.name] != nil }

    /// Runs an app. Nil if none of this name is installed.
    func launch(_ name: String, _ launch: AppLaunch) -> SimulatedApp? {
        guard let installation = installations[name], let device = device() else { return nil }
        let app = device.openOnLoop(name, installation.declaration, launch)
        launched[name] = app.process
        let main = installation.main
        let queue = installation.queue ?? DispatchQueue(label: "\(device.name).\(name).main")
        app.process.inner.value.begin(on: queue) {
            ServiceLocator.$current.withValue(app.connection) { main(app, launch) }
        }
        return app
    }
}

/// A device that a ``SimulatedDevice`` is paired with, as its settings show it.
public struct PairedPeer: Hashable, Sendable {
    /// The identifier by which the apps of the device refer to the peer.
    public let identifier: UUID
    /// The name of the peer, or nil if it is not known.
    public let name: String?
}

extension SimulatedDevice {
    /// The devices that this device is paired with, the oldest first, as its settings show them. May be read from any
    /// thread.
    public var pairedPeers: [PairedPeer] {
        withSystem { system in system.peers.bondedPeers.map { PairedPeer(identifier: $0.identifier, name: $0.name) } }
    }

    /// Forgets a paired device, as the person does in the settings.
    ///
    /// May be called from any thread.
    ///
    /// - Parameter peer: The identifier of the device. If it is not paired the call has no effect.
    /// - Returns: Whether it was paired.
    @discardableResult
    public func forget(_ peer: UUID) -> Bool {
        withSystem { [self] system in
            guard let known = system.peers.bondedPeers.first(where: { $0.identifier == peer }) else {
                ignored("forget(_:): there is no bond with \(peer)")
                return false
            }
            note("the user forgets \(known.name ?? "a device")")
            // The bonds of a simulated device are in memory, which does not fail.
            try? system.peers.forget(peer)
            return true
        }
    }
}
