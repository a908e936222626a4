import EventLoops
import Foundation
import Testing

@testable import BluetoothService

@Suite struct LifecycleWorldTests {
    /// The number of seeds. For longer runs by hand, set `HARALD_SEEDS` in the environment.
    private static let seeds = UInt64(ProcessInfo.processInfo.environment["HARALD_SEEDS"] ?? "") ?? 150

    @Test(
        "behaviours 9.3, 9.5, 10.4 to 10.7, 10.15, 10.16: whatever happens to apps, they find each other in the end, and nothing is left over"
    )
    func whateverBecomesOfApps() {
        for seed in 1...Self.seeds {
            let choices = LifecycleWorld.choices(30, seed: seed)
            let faults = LifecycleWorld.faults(after: choices, seed: seed)
            guard !faults.isEmpty else { continue }
            let few = Shrinking.shrunk(choices) { !LifecycleWorld.faults(after: $0, seed: seed).isEmpty }
            let left = LifecycleWorld.faults(after: few, seed: seed)
            Issue.record("seed \(seed): \(faults); after \(few.map(\.step)) alone: \(left)")
            return
        }
    }

    @Test("a failing sequence is shrunk and still fails")
    func whatFailsIsMadeShort() {
        for (first, second) in [(3, 17), (0, 29), (14, 15)] {
            var runs = 0
            let few = Shrinking.shrunk(Array(0..<30)) { list in
                runs += 1
                return list.contains(first) && list.contains(second)
            }
            #expect(few == [first, second])
            #expect(runs < 120)
        }
        #expect(Shrinking.shrunk([1, 2, 3]) { _ in true } == [])
    }
}
