import EventLoops
import Synchronization

@testable import ServiceProcess

/// Connects a process to the service that is there at the time, over lines in memory.
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

    /// The service is gone, or there again.
    func cut() {
        for line in take() { line.far.with { $0.lost(.closedByPeer) } }
    }

    /// The process ends: what it has sent arrives, and it sends and takes nothing more. From any thread.
    func die() {
        clients.withLock { $0 = nil }
        for line in take() { loop.submit { line.near.value.close() } }
    }

    /// The process takes nothing more that is sent to it, and its line stays.
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
