import EventLoops
import Logging
import SampleMessages
import ServiceMessages
import Synchronization

@testable import BluetoothSimulation
@testable import ServiceProcess

/// The process of an app whose managers reach the service of a ``ClientWorld`` over an in-memory connection.
struct ClientProcess {
    let dialer: TestDialer
    let connection: RemoteConnection
    let log = LogLines()

    init(
        in world: ClientWorld,
        named name: String = "com.example.app",
        user: UInt32 = ClientWorld.owner,
        isServiceThere: Bool = true
    ) {
        let (dialer, log) = (TestDialer(Caller(process: 1, user: user, group: 0), loop: world.world.loop), log)
        if isServiceThere { dialer.clients.withLock { $0 = world.clients } }
        let logger = Logger(label: "app") { _ in log }
        self.dialer = dialer
        connection = RemoteConnection(hello: Hello(AppIdentity(name: name)), loop: world.world.loop, logger: logger) {
            dialer
        }
    }
}
