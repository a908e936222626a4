import BluetoothService
import Logging

#if Controllers
    import EmbeddedService
#endif

/// The service for managers that are made outside of simulations.
enum ProcessService {
    #if Controllers
        /// The one that this process finds, or one of its own.
        static var connection: any ServiceConnection { ServiceFinder.connection }
    #else
        /// None: who only simulates leaves out the package's trait `Controllers`, and builds neither sockets nor their loop.
        static let connection: any ServiceConnection = {
            Logger(label: "harald.service").error(
                "Bluetooth is unsupported outside of simulations: this program was built without the trait Controllers."
            )
            return UnsupportedConnection()
        }()
    #endif
}
