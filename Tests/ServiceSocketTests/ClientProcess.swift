import EventLoops
import Logging
import ServiceMessages
import Synchronization

@testable import BluetoothService
@testable import BluetoothSimulation
@testable import ServiceProcess

/// The process of an app whose managers reach the service of a ``ClientWorld`` over a line in memory.
struct ClientProcess {
    /// Connects to the service that is there at the time.
    final class TestDialer: Dialer, Sendable {
        let clients = Mutex<LoopBound<ServiceClients>?>(nil)
        private let lines = Mutex<[LoopBound<MemoryLine>]>([])
        private let caller: Caller
        private let loop: any EventLoop

        init(_ caller: Caller, loop: any EventLoop) {
            self.caller = caller
            self.loop = loop
        }

        func dial(_ completion: @escaping (Result<any MessageLine, MessageLineError>) -> Void) {
            guard let clients = clients.withLock({ $0 }) else {
                return loop.execute { completion(.failure(.unreachable(path: "/nowhere", reason: "nobody"))) }
            }
            let (near, far) = MemoryLine.pair(loop: loop)
            let line = LoopBound(far, loop: loop)
            lines.withLock { $0.append(line) }
            clients.value.accept(far, from: caller)
            loop.execute { completion(.success(near)) }
        }

        /// Ends all lines, as when the service dies.
        func cut() {
            for line in lines.withLock({ $0 }) { line.with { $0.lost(.closedByPeer) } }
            lines.withLock { $0 = [] }
        }
    }

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
