import EventLoops
import Foundation
import HCI
import HCITransports
import Logging
import Synchronization

/// Finds the service for managers that are made on this task or thread.
public enum ServiceLocator {
    /// The app that the running code belongs to, when it runs inside a simulation. Managers take it from here when they
    /// are made, and set it again around every callback.
    @TaskLocal public static var current: (any ServiceConnection)?

    /// The environment variable that names a controller.
    public static let controllerVariable = "HARALD_CONTROLLER"

    /// The environment variable that names a btsnoop file for all packets between this process and its controller. The keys of
    /// all links are in it.
    public static let captureVariable = "HARALD_CAPTURE"

    /// The connection of this process, when it runs in no simulation: to a service inside the process, on the controller
    /// that the environment names. Made when it is first asked for.
    private static let embedded: any ServiceConnection = makeEmbedded(
        controller: ProcessInfo.processInfo.environment[controllerVariable],
        capture: ProcessInfo.processInfo.environment[captureVariable],
        logger: Logger(label: "harald.service")
    )

    /// The service for a manager made here: that of the simulated app, or else of this process. There always is one; without a
    /// controller its managers are unsupported, and a line in the log says how to get one.
    public static func connect() -> any ServiceConnection {
        current ?? embedded
    }

    /// A connection to a service of its own on a controller named as in the environment, with a capture as it is named there.
    static func makeEmbedded(
        controller text: String?,
        capture: String? = nil,
        logger: Logger
    ) -> any ServiceConnection {
        guard let text, !text.isEmpty else {
            logger.error(
                """
                Bluetooth is unsupported: there is no controller. Set \(controllerVariable)=tcp:HOST:PORT to use one that \
                speaks H4 over TCP.
                """
            )
            return UnsupportedConnection()
        }
        do throws(ControllerAddress.ParseError) {
            return open(try ControllerAddress(text), capture: captureFile(capture, logger: logger), logger: logger)
        } catch {
            logger.error("Bluetooth is unsupported: \(controllerVariable) cannot be used: \(error)")
            return UnsupportedConnection()
        }
    }

    /// Where a system on a real controller keeps its bonds: `harald/bonds` in the user's directory for state, as the XDG Base
    /// Directory Specification has it.
    ///
    /// - Parameter environment: The environment variables of the process.
    public static func bondDirectory(
        environment: [String: String] = ProcessInfo.processInfo.environment
    ) -> String {
        // A path that is not absolute does not count (XDG Base Directory Specification 0.8).
        if let state = environment["XDG_STATE_HOME"], state.hasPrefix("/") { return state + "/harald/bonds" }
        let home = environment["HOME"] ?? FileManager.default.homeDirectoryForCurrentUser.path
        return home + "/.local/state/harald/bonds"
    }

    /// The file for the packets. An app does without its capture rather than without Bluetooth.
    private static func captureFile(_ path: String?, logger: Logger) -> CaptureFile? {
        guard let path, !path.isEmpty else { return nil }
        do throws(CaptureError) {
            return try CaptureFile(path: path)
        } catch {
            logger.error("\(captureVariable) is not heeded: \(error)")
            return nil
        }
    }

    /// A system on a loop of its own, which lives as long as the connection.
    private static func open(
        _ address: ControllerAddress,
        capture: CaptureFile?,
        logger: Logger
    ) -> any ServiceConnection {
        let made = Mutex<(any ServiceConnection)?>(nil)
        let loop = NIOEventLoop()
        loop.submitAndWait {
            var configuration = SystemConfiguration()
            configuration.store = .directory(bondDirectory())
            let controllers = ControllerSource {
                let line = ControllerTransport(address, loop: loop)
                return capture.map { SnoopingTransport.toFile($0, line, end: .host, loop: loop) } ?? line
            }
            let system = BluetoothSystem(
                controllers: controllers,
                loop: loop,
                random: RandomSource(),
                configuration: configuration,
                logger: logger
            )
            system.start()
            let connection = system.openApp(
                AppIdentity(name: Bundle.main.bundleIdentifier ?? ProcessInfo.processInfo.processName, owner: getuid())
            )
            made.withLock { $0 = connection }
        }
        return made.withLock { $0 } ?? UnsupportedConnection()
    }
}

/// A service without a controller: every manager is told that Bluetooth is unsupported, and nothing else.
final class UnsupportedConnection: ServiceConnection {
    private let outlets = Mutex<(last: UInt32, open: [ManagerID: EventOutlet])>((0, [:]))

    func openManager(
        _ role: ManagerRole,
        options: ManagerOptions,
        queue: any CallbackQueue,
        handler: @escaping @Sendable (Event) -> Void
    ) -> ManagerID {
        let outlet = EventOutlet(queue: queue, handler: handler)
        let id = outlets.withLock { outlets in
            outlets.last += 1
            outlets.open[ManagerID(outlets.last)] = outlet
            return ManagerID(outlets.last)
        }
        outlet.send(.stateChanged(.unsupported))
        return id
    }

    func closeManager(_ manager: ManagerID) {
        outlets.withLock { $0.open.removeValue(forKey: manager) }?.close()
    }

    func send(_ request: Request, from manager: ManagerID) {}

    func ask(_ query: Query, from manager: ManagerID) -> Result<Reply, ServiceError> {
        .failure(ServiceError(.operationNotSupported, reason: "there is no controller"))
    }
}
