import BluetoothService
import EventLoops
import Foundation
import GAP
import HCI
import HCITransports
import Logging
import Synchronization

/// A service inside the process of the one app that uses it, on a real controller.
package enum EmbeddedService {
    /// The environment variable that names a controller.
    package static let controllerVariable = "HARALD_CONTROLLER"

    /// The environment variable that names a btsnoop file for all packets between this process and its controller. The keys of
    /// all links are in it.
    package static let captureVariable = "HARALD_CAPTURE"

    /// A connection to a service of its own, on the controller that the environment names; where it names none, on the first of the
    /// kernel's adapters that can be had. Without any its managers are unsupported, and a line in the log says how to get one.
    static func make(environment: [String: String], logger: Logger) -> any ServiceConnection {
        make(controller: environment[controllerVariable], capture: environment[captureVariable], logger: logger)
    }

    /// A connection to a service of its own on a controller named as in the environment, with a capture as it is named there.
    static func make(
        controller text: String?,
        capture: String? = nil,
        finder: AdapterFinder = AdapterFinder(),
        logger: Logger
    ) -> any ServiceConnection {
        guard let text, !text.isEmpty else {
            return first(of: finder, capture: capture, logger: logger)
        }
        do throws(ControllerAddress.ParseError) {
            let address = try ControllerAddress(text)
            return open(address, capture: captureFile(capture, logger: logger), finder: finder, logger: logger)
        } catch {
            logger.error("Bluetooth is unsupported: \(controllerVariable) cannot be used: \(error)")
            return UnsupportedConnection()
        }
    }

    /// A connection to a service on the first adapter that can be had, where the kernel has any.
    private static func first(
        of finder: AdapterFinder,
        capture: String?,
        logger: Logger
    ) -> any ServiceConnection {
        do throws(UserChannelError) {
            guard try !finder.adapters.list().isEmpty else { throw .noAdapters }
            return open(.adapter(.first), capture: captureFile(capture, logger: logger), finder: finder, logger: logger)
        } catch {
            logger.error(
                """
                Bluetooth is unsupported: there is neither a service nor a controller, and \(error). Start `harald service`, or \
                set \(controllerVariable)=tcp:HOST:PORT to use a controller that speaks H4 over TCP.
                """
            )
            return UnsupportedConnection()
        }
    }

    /// Where a system on a real controller keeps its bonds: `harald/bonds` in the user's directory for state, as the XDG Base
    /// Directory Specification has it.
    ///
    /// - Parameter environment: The environment variables of the process.
    package static func bondDirectory(
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
        finder: AdapterFinder,
        logger: Logger
    ) -> any ServiceConnection {
        let made = Mutex<(any ServiceConnection)?>(nil)
        let loop = NIOEventLoop()
        loop.submitAndWait {
            var configuration = SystemConfiguration()
            configuration.keep(in: bondDirectory())
            configuration.user = getuid()
            let controllers = ControllerSource {
                let line = ControllerTransport(address, loop: loop, finder: finder)
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
                AppIdentity(name: ServiceFinder.appName, owner: getuid())
            )
            made.withLock { $0 = connection }
        }
        return made.withLock { $0 } ?? UnsupportedConnection()
    }
}
