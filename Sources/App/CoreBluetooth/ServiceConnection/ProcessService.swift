import Logging
import ServiceMessages

#if Controllers
    import ServiceProcess
#endif

/// The service for managers that are created outside simulations.
enum ProcessService {
    #if Controllers
        /// The service that this process finds, or an embedded one.
        static var connection: any ServiceConnection { ServiceFinder.connection }
    #else
        /// None: without the package's trait `Controllers` a program has only simulations, and builds neither sockets
        /// nor their event loop.
        static let connection: any ServiceConnection = {
            Logger(label: "harald.service").error(
                """
                Bluetooth is unsupported outside simulations: this program was built without the trait Controllers. A test creates \
                its managers in the closure of launch, which makes them part of a simulated device.
                """
            )
            return UnsupportedConnection()
        }()
    #endif
}

extension SystemInfo {
    /// The system information of the current code's service, or nil if there is none.
    static var current: SystemInfo? {
        let connection = ServiceLocator.connect(otherwise: ProcessService.connection)
        guard case .success(.system(let info)) = connection.ask(.system, from: .none) else { return nil }
        return info
    }
}
