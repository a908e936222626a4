import Foundation
import Synchronization

/// Runs worlds in several processes at once. A process that ends is replaced.
actor SearchPool {
    private let world: TestWorld
    private let setup: SearchRun.Setup
    /// The number of processes; 0 to run worlds here.
    private let size: Int
    /// The time of the machine after which a process is ended.
    private let limit: Duration?
    private var idle: [SearchProcess] = []

    init(_ world: TestWorld, _ setup: @escaping SearchRun.Setup, size: Int, limit: Duration?) {
        (self.world, self.setup, self.size, self.limit) = (world, setup, size, limit)
    }

    /// The number of worlds that can run at once.
    nonisolated var width: Int { max(1, size) }

    /// Runs a world. Call at most ``width`` times at once.
    func run(_ request: SearchRequest) async throws -> SearchOutcome {
        guard size > 0 else {
            let steps = Mutex<[SearchStep]>([])
            let faults = await request.run(like: world, setup) { list in steps.withLock { $0 = list } }
            return SearchOutcome(steps: steps.withLock { $0 }, faults: faults)
        }
        let process = try idle.popLast() ?? SearchProcess(world.rerun)
        let (outcome, isAlive) = try await process.run(request, within: limit)
        if isAlive { idle.append(process) }
        return outcome
    }

    func close() {
        for process in idle { process.close() }
        idle = []
    }
}
