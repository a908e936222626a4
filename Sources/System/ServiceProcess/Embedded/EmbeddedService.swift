import BluetoothService
import BluetoothTypes
import Cryptography
import EventLoops
import Foundation
import GAP
import HCI
import HCITransports
import Logging
import ServiceMessages
import Synchronization

/// A service on a real controller inside the process of the one app that uses it.
package enum EmbeddedService {
    package static let controllerVariable = "HARALD_CONTROLLER"

    /// The environment variable that names a btsnoop file for all packets between this process and its controller. The
    /// file contains the keys of all links.
    package static let captureVariable = "HARALD_CAPTURE"

    /// Creates a service on the controller named in the environment or, if none is named, on the first available
    /// adapter of the kernel.
    ///
    /// - Returns: A connection to the service. If there is no controller, its managers are unsupported, and a line in
    ///   the log explains how to get one.
    static func make(environment: [String: String], logger: Logger) -> any ServiceConnection {
        make(
            controller: environment[controllerVariable],
            capture: environment[captureVariable],
            givesAdvice: AdviceAtExit.isWanted(environment),
            logger: logger
        )
    }

    /// Creates a service on the given controller, or on the first available adapter.
    ///
    /// - Parameters:
    ///   - text: The controller, as the environment variable names it, or nil.
    ///   - givesAdvice: Whether to print advice when the program exits.
    static func make(
        controller text: String?,
        capture: String? = nil,
        givesAdvice: Bool = false,
        finder: ControllerFinder = ControllerFinder(),
        logger: Logger
    ) -> any ServiceConnection {
        guard let address = address(text, finder, logger) else { return UnsupportedConnection() }
        let capture = captureFile(capture, logger: logger)
        do throws(CryptographyUnavailable) {
            try CryptographyProviders.require()
        } catch {
            logger.error("Bluetooth is unsupported: \(error)")
            return UnsupportedConnection()
        }
        // On an event loop of its own, which lives as long as the connection.
        let made = Mutex<(any ServiceConnection)?>(nil)
        let loop = NIOEventLoop()
        loop.submitAndWait {
            let controllers = ControllerSource {
                let line = ControllerTransport(address, loop: loop, finder: finder)
                line.onDeparture = { logger.warning("the playback departs from the capture at \($0)") }
                return capture.map { SnoopingTransport.toFile($0, line, end: .host, loop: loop) } ?? line
            }
            let connection = open(controllers, givesAdvice: givesAdvice, loop: loop, logger: logger)
            made.withLock { $0 = connection }
        }
        return made.withLock { $0 } ?? UnsupportedConnection()
    }

    /// Returns the controller with this name or, without a name, the first available adapter of the kernel. Logs why
    /// there is none.
    private static func address(_ text: String?, _ finder: ControllerFinder, _ logger: Logger) -> ControllerAddress? {
        guard let text, !text.isEmpty else {
            do throws(UserChannelError) {
                guard try !finder.kernel.adapters.list().isEmpty else { throw .noAdapters }
                return .adapter(.first)
            } catch {
                logger.error(
                    """
                    Bluetooth is unsupported: no service is running, no controller is named, and \(error). Start \
                    `harald service`, or set \(controllerVariable)=tcp:HOST:PORT for a controller that speaks H4 over TCP.
                    """
                )
                return nil
            }
        }
        do throws(ControllerAddress.ParseError) {
            return try ControllerAddress(text)
        } catch {
            logger.error("Bluetooth is unsupported: \(controllerVariable) is invalid: \(error)")
            return nil
        }
    }

    /// Returns the directory in which a system on a real controller stores its bonds: `harald/bonds` in the user's
    /// state directory (XDG Base Directory Specification).
    package static func bondDirectory(
        environment: [String: String] = ProcessInfo.processInfo.environment
    ) -> String {
        // A relative path is invalid and ignored (XDG Base Directory Specification 0.8).
        if let state = environment["XDG_STATE_HOME"], state.hasPrefix("/") { return state + "/harald/bonds" }
        let home = environment["HOME"] ?? FileManager.default.homeDirectoryForCurrentUser.path
        return home + "/.local/state/harald/bonds"
    }

    /// Opens the capture file. If that fails, the app runs without a capture rather than without Bluetooth.
    private static func captureFile(_ path: String?, logger: Logger) -> CaptureFile? {
        guard let path, !path.isEmpty else { return nil }
        do throws(OutputFile.Failure) {
            return try CaptureFile(path: path)
        } catch {
            logger.error("\(captureVariable) is ignored: \(error)")
            return nil
        }
    }

    /// Creates a system and the app of this program. Called on its event loop.
    private static func open(
        _ controllers: ControllerSource,
        givesAdvice: Bool,
        loop: NIOEventLoop,
        logger: Logger
    ) -> any ServiceConnection {
        var configuration = SystemConfiguration()
        configuration.keep(in: bondDirectory())
        configuration.user = getuid()
        let system = BluetoothSystem(
            controllers: controllers,
            loop: loop,
            random: RandomSource(),
            configuration: configuration,
            logger: logger
        )
        system.start()
        if givesAdvice { AdviceAtExit.follow(system) }
        return system.openApp(AppIdentity(name: ServiceFinder.appName, owner: getuid()))
    }
}
