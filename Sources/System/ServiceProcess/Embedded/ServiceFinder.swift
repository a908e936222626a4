import Foundation
import HCITransports
import Logging
import ServiceMessages

/// Finds the service of a program, outside simulations.
///
/// It is the one whose socket `HARALD_SERVICE` names, or else an embedded one on the controller that
/// `HARALD_CONTROLLER` names, or else the service of the user or of the machine that listens at its usual path, or else
/// an embedded one on the first adapter of the kernel.
package enum ServiceFinder {
    /// The connection of this process, created on first use.
    package static let connection: any ServiceConnection = find(
        environment: ProcessInfo.processInfo.environment,
        logger: Logger(label: "harald.service")
    )

    /// The place of a service.
    enum Place: Equatable {
        case socket(String)
        case embedded
    }

    /// Returns the place of the service. `listens` returns whether a service is listening at a path.
    static func place(environment: [String: String], listens: (String) -> Bool) -> Place {
        if let path = environment[ServicePath.variable], !path.isEmpty { return .socket(path) }
        // What the user names takes precedence over what happens to run.
        if let controller = environment[EmbeddedService.controllerVariable], !controller.isEmpty { return .embedded }
        let usual = [ServicePath.ofUser(environment: environment), ServicePath.ofMachine].compactMap { $0 }
        return usual.first(where: listens).map { .socket($0) } ?? .embedded
    }

    private static func find(environment: [String: String], logger: Logger) -> any ServiceConnection {
        switch place(environment: environment, listens: ServicePath.isListening) {
        case .socket(let path):
            let loop = NIOEventLoop()
            if AdviceAtExit.isWanted(environment) {
                // On the same loop, and first: managers that exist before the question are not followed.
                let advice = ServiceAdvice(path: path, loop: loop)
                AdviceAtExit.start { advice.finish() }
            }
            let hello = Hello(AppIdentity(name: appName), declaring: declaration)
            return RemoteConnection(
                path: path,
                hello: hello,
                isLaunched: environment[RestoreIdentifiers.variable] != nil,
                loop: loop,
                logger: logger
            )
        case .embedded: return EmbeddedService.make(environment: environment, logger: logger)
        }
    }

    /// The bundle identifier or, if there is none, the name of the executable.
    static var appName: String { Bundle.main.bundleIdentifier ?? ProcessInfo.processInfo.processName }

    /// The contents of the `Info.plist` beside the executable, if there is one. Without `HaraldManaged` in it a program
    /// is not managed, as on a Mac.
    private static var declaration: AppDeclaration {
        let list = Bundle.main.infoDictionary ?? [:]
        return AppDeclaration(propertyList: list, isManaged: list["HaraldManaged"] as? Bool ?? false)
    }
}
