import EventLoops
import Foundation
import Testing

@testable import BluetoothService

@Suite struct RandomWorldTests {
    /// The number of seeds. For longer runs by hand, set `HARALD_SEEDS` in the environment. The first seed is
    /// `HARALD_FIRST_SEED`. Each world runs all its steps, or those in `HARALD_STEPS`, a list of numbers.
    private static let seeds = number("HARALD_SEEDS") ?? 20
    private static let first = number("HARALD_FIRST_SEED") ?? 1

    /// The number of failing seeds to shrink and report.
    private static let maximumFailed = 5

    private static let chosen = ProcessInfo.processInfo.environment["HARALD_STEPS"].map { list in
        list.split(separator: ",").compactMap { Int($0) }
    }

    private static func number(_ name: String) -> UInt64? {
        ProcessInfo.processInfo.environment[name].flatMap { UInt64($0) }
    }

    @Test(
        "behaviours 1.3, 1.4, 1.9 to 1.13, 3.12, 3.39, 4.20, 5.18 to 5.20, 9.3, 10.1, 10.3 to 10.12, 10.15 to 10.18: in random worlds every request ends, no subscription is lost silently, everything arrives in order, no app sees another's data, and the restored state equals a model's"
    )
    func whateverBecomesOfAWorld() {
        var failed = 0
        for seed in Self.first..<Self.first + Self.seeds where failed < Self.maximumFailed {
            let steps = WorldStep.steps(25, seed: seed).filter { Self.chosen?.contains($0.number) ?? true }
            let faults = RandomWorld.faults(after: steps, seed: seed)
            guard !faults.isEmpty else { continue }
            failed += 1
            let few = Shrinking.shrunk(steps) { !RandomWorld.faults(after: $0, seed: seed).isEmpty }
            let left = RandomWorld.faults(after: few, seed: seed)
            Issue.record("seed \(seed): \(faults); after \(few) alone: \(left)")
        }
    }
}
