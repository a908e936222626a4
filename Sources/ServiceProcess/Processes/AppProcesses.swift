import BluetoothService
import EventLoops
import Foundation
import Logging

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#endif

/// The processes of apps on this machine: launches those that have to hear of something, and knows which one is which when it
/// connects. Lives on the loop.
package final class AppProcesses: AppLauncher {
    /// Programs that were started and have not ended, at a time (AB-G05).
    package static let maximumLaunched = 64

    /// Where the processes find the service.
    private let socket: String
    private let loop: any EventLoop
    private let logger: Logger
    private unowned let system: BluetoothSystem
    private var launched: [Int32: (app: AppIdentity, process: Process)] = [:]
    /// Those that were launched into the background, and have not connected yet.
    private var expected: Set<AppIdentity> = []

    /// The apps of `system`, which they find at `socket`. On the loop.
    package init(_ system: BluetoothSystem, socket: String, loop: any EventLoop, logger: Logger) {
        self.system = system
        self.socket = socket
        self.loop = loop
        self.logger = logger
    }

    /// Launches what is kept of an app in the background (behaviour 10.4).
    package func launch(_ app: AppIdentity, restoring managers: RestoreIdentifiers) {
        guard let command = system.declaration(ofPreserved: app)?.launchCommand, !command.isEmpty else {
            return logger.notice(
                "\(app.name) has to hear of something, and nobody can launch it: its Info.plist has no HaraldLaunch"
            )
        }
        do throws(LaunchError) {
            try launch(app, command, restoring: managers, inBackground: true)
        } catch {
            logger.warning("\(app.name) cannot be launched: \(error)")
        }
    }

    /// Why an app cannot be launched.
    package enum LaunchError: Error, Hashable, CustomStringConvertible {
        case ofAnotherUser(UInt32)
        case tooMany
        case notRun(String)

        package var description: String {
            switch self {
            case .ofAnotherUser(let user):
                "it is of user \(user), whose programs this service cannot start; run a service as that user"
            case .tooMany: "\(AppProcesses.maximumLaunched) programs that the service has launched run already"
            case .notRun(let reason): reason
            }
        }
    }

    /// Starts the program of an app.
    package func launch(
        _ app: AppIdentity,
        _ command: [String],
        restoring managers: RestoreIdentifiers,
        inBackground: Bool
    ) throws(LaunchError) {
        guard app.owner == getuid() else { throw .ofAnotherUser(app.owner) }
        guard launched.count < Self.maximumLaunched else { throw .tooMany }
        guard let program = command.first, program.hasPrefix("/") else {
            throw .notRun("HaraldLaunch has to begin with the whole path of a program")
        }
        let process = Process()
        let launch = LaunchCommand(
            app,
            command,
            variables: [
                ServicePath.variable: socket, RestoreIdentifiers.variable: managers.environmentValue,
            ],
            environment: ProcessInfo.processInfo.environment
        )
        process.executableURL = URL(fileURLWithPath: launch.program)
        process.arguments = launch.arguments
        process.environment = launch.environment
        process.standardInput = FileHandle.nullDevice
        let processes = LoopBound(self, loop: loop)
        process.terminationHandler = { ended in
            let number = ended.processIdentifier
            processes.loop.submit { processes.value.launched[number] = nil }
        }
        do {
            try process.run()
        } catch {
            throw .notRun("\(program): \(error.localizedDescription)")
        }
        launched[process.processIdentifier] = (app, process)
        if inBackground { expected.insert(app) }
        logger.notice("\(app.name) is launched as process \(process.processIdentifier)")
    }

    /// Whether an app that connects was launched into the background. It is asked once, when it does.
    func isLaunchedInBackground(_ app: AppIdentity) -> Bool { expected.remove(app) != nil }
}
