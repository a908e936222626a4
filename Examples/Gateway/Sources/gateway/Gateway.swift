import CoreBluetooth
import Foundation
import GatewayStore

/// Collects the records of sensors, and publishes them to a broker.
@main struct Gateway {
    static func main() async {
        let arguments = CommandLine.arguments.dropFirst()
        let address = arguments.last?.split(separator: ":") ?? []
        guard arguments.count == 3, let name = arguments.first, address.count == 2, let port = Int32(address[1]) else {
            say("usage: gateway NAME STORE BROKER:PORT, with the controller in HARALD_CONTROLLER")
            exit(64)
        }
        do {
            let path = arguments[arguments.startIndex + 1]
            let host = String(address[0])
            let store = SharedStore(try Store(path: path))
            let thread = Thread {
                do {
                    try Publisher(name: name, host: host, port: port, store: store).run()
                } catch {
                    fail(error)
                }
            }
            thread.start()
            let manager = CBCentralManager(delegate: nil, queue: DispatchQueue(label: "gateway"))
            try await Collector(manager: manager, keeper: Keeper(store)).run()
        } catch {
            fail(error)
        }
    }

    /// A gateway that cannot store must not go on: the sensors keep their records.
    static func fail(_ error: any Error) -> Never {
        say("gateway: \(error)")
        exit(1)
    }
}
