import BluetoothTesting
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
    func whateverBecomesOfApps() async {
        for seed in 1...Self.seeds {
            let choices = LifecycleWorld.choices(30, seed: seed)
            let faults = LifecycleWorld.faults(after: choices, seed: seed)
            guard !faults.isEmpty else { continue }
            let few = await StepReduction.reduced(choices) { candidates in
                candidates.firstIndex { !LifecycleWorld.faults(after: $0, seed: seed).isEmpty }
            }
            let left = LifecycleWorld.faults(after: few, seed: seed)
            Issue.record("seed \(seed): \(faults); after \(few.map(\.step)) alone: \(left)")
            return
        }
    }
}
