import BluetoothService
import Foundation
import HCITransports
import Logging
import ServiceProcess
import ServiceSocket

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#endif

/// Which service a program finds, outside of simulations: the one whose socket `HARALD_SERVICE` names, the one of the user or of the
/// machine that listens at the usual place, or one inside the process, on the controller that the environment names, or on the first that the
/// kernel gives.
package enum ServiceFinder {
    /// The connection of this process. Made when it is first asked for.
    package static let connection: any ServiceConnection = find(
        environment: ProcessInfo.processInfo.environment,
        logger: Logger(label: "harald.service")
    )

    /// Where a service is found.
    enum Place: Equatable {
        case socket(String)
        /// Inside the process.
        case embedded
    }

    /// Looks for a service.
    ///
    /// - Parameter listens: Whether somebody listens at a path.
    static func place(environment: [String: String], listens: (String) -> Bool) -> Place {
        if let path = environment[ServicePath.variable], !path.isEmpty { return .socket(path) }
        let usual = [ServicePath.ofUser(environment: environment), ServicePath.ofMachine].compactMap { $0 }
        return usual.first(where: listens).map { .socket($0) } ?? .embedded
    }

    private static func find(environment: [String: String], logger: Logger) -> any ServiceConnection {
        switch place(environment: environment, listens: ServicePath.isListening) {
        case .socket(let path):
            let hello = Hello(AppIdentity(name: appName), declaring: declaration)
            return RemoteConnection(
                path: path,
                hello: hello,
                isLaunched: environment[RestoreIdentifiers.variable] != nil,
                loop: NIOEventLoop(),
                logger: logger
            )
        case .embedded: return EmbeddedService.make(environment: environment, logger: logger)
        }
    }

    /// The bundle identifier, or where there is none the name of the executable.
    static var appName: String { Bundle.main.bundleIdentifier ?? ProcessInfo.processInfo.processName }

    /// What the `Info.plist` beside the executable says, if there is one. Without `HaraldManaged` a program lives as on a Mac.
    private static var declaration: AppDeclaration {
        let list = Bundle.main.infoDictionary ?? [:]
        return AppDeclaration(propertyList: list, isManaged: list["HaraldManaged"] as? Bool ?? false)
    }
}
