import EventLoops
import Foundation
import Testing

@testable import BluetoothService

/// Lives of apps at random.
@Suite struct LifecycleWorldTests {
    /// How many seeds: `HARALD_SEEDS` in the environment, for longer runs by hand.
    private static let seeds = UInt64(ProcessInfo.processInfo.environment["HARALD_SEEDS"] ?? "") ?? 150

    @Test(
        "behaviours 9.3, 9.5, 10.4 to 10.7, 10.15, 10.16: whatever becomes of apps, they find each other in the end, and nothing is left"
    )
    func whateverBecomesOfApps() {
        for seed in 1...Self.seeds {
            let world = LifecycleWorld(seed: seed)
            for _ in 0..<30 { world.step() }
            world.comeToRest()
            world.check()
            #expect(world.faults.isEmpty, "seed \(seed), \(world.steps)")
            if !world.faults.isEmpty { return }
        }
    }
}
