import BluetoothTypes
import EventLoops
import ServiceMessages
import Synchronization

@testable import BluetoothSimulation
@testable import ServiceProcess

/// The test's end of a tool's connection.
final class RawTool: RawConnection, Sendable {
    let ends: LoopBound<(near: MemoryLine, far: MemoryLine)>
    let world: SimulatedWorld
    private let received = Mutex<[PacketBuffer]>([])
    private let closed = Mutex(false)

    init(
        _ world: ClientWorld,
        user: UInt32 = ClientWorld.owner,
        process: Int32 = 2,
        version: UInt16 = Hello.version
    ) {
        let (loop, moment) = (world.world.loop, world.moment)
        self.world = world.world
        ends = world.clients.with { clients in
            let (near, far) = MemoryLine.pair(loop: loop, moment: moment)
            clients.accept(far, from: Caller(process: process, user: user, group: user))
            return LoopBound((near: near, far: far), loop: loop)
        }
        ends.with { [weak self] ends in
            ends.near.onReceive = { octets in self?.received.withLock { $0.append(octets) } }
            ends.near.onClose = { _ in self?.closed.withLock { $0 = true } }
        }
        send(Opening.tool(version: version).encoded())
    }

    var isClosed: Bool { closed.withLock { $0 } }

    /// The service's response to the opening message.
    func greeting() throws -> ServiceMessage? {
        let first = received.withLock { $0.isEmpty ? nil : $0.removeFirst() }
        return try first.map { octets in try ServiceMessage(reading: octets) }
    }

    /// Removes and returns the replies since the last call.
    func take() throws -> [ToolReply] {
        let octets = received.withLock { received in
            defer { received = [] }
            return received
        }
        return try octets.map { octets in try ToolReply(reading: octets) }
    }

    func ask(_ number: UInt32, _ question: ToolQuestion) {
        send(ToolMessage.ask(number: number, question).encoded())
    }
}
