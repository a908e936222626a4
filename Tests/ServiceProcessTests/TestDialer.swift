import EventLoops
import Synchronization

@testable import ServiceProcess

/// Connects a process to the current service over in-memory connections.
final class TestDialer: Dialer, Sendable {
    let clients = Mutex<LoopBound<ServiceClients>?>(nil)
    private let lines = Mutex<[(near: LoopBound<MemoryLine>, far: LoopBound<MemoryLine>)]>([])
    private let caller: Caller
    private let loop: any EventLoop

    init(_ caller: Caller = Caller(process: 1, user: ClientWorld.owner, group: 0), loop: any EventLoop) {
        self.caller = caller
        self.loop = loop
    }

    func dial(_ completion: @escaping (Result<any MessageLine, MessageLineError>) -> Void) {
        guard let clients = clients.withLock({ $0 }) else {
            return loop.execute { completion(.failure(.unreachable(path: "/nowhere", reason: "nobody"))) }
        }
        let (near, far) = MemoryLine.pair(loop: loop)
        let ends = (near: LoopBound(near, loop: loop), far: LoopBound(far, loop: loop))
        lines.withLock { $0.append(ends) }
        clients.value.accept(far, from: caller)
        loop.execute { completion(.success(near)) }
    }

    /// The service closes all connections.
    func cut() {
        for line in take() { line.far.with { $0.lost(.closedByPeer) } }
    }

    /// Ends the process: data already sent arrives, and nothing more is sent or read. Can be called on any thread.
    func die() {
        clients.withLock { $0 = nil }
        for line in take() { loop.submit { line.near.value.close() } }
    }

    /// Stops the process from reading, but keeps its connection open.
    func stall() {
        for line in lines.withLock({ $0 }) { line.far.with { $0.block(true) } }
    }

    private func take() -> [(near: LoopBound<MemoryLine>, far: LoopBound<MemoryLine>)] {
        lines.withLock { lines in
            defer { lines = [] }
            return lines
        }
    }
}
