import BluetoothTesting
import Foundation
import Synchronization
import Testing

@Suite struct LifecycleWorldTests {
    /// The number of seeds. For longer runs by hand, set `HARALD_SEEDS` in the environment.
    private static let seeds = UInt64(ProcessInfo.processInfo.environment["HARALD_SEEDS"] ?? "") ?? 150

    @Test(
        "behaviours 9.3, 9.5, 10.4 to 10.7, 10.15, 10.16: whatever happens to apps, they find each other in the end, and nothing is left over",
        .world(appTime: .machine, keepsCaptures: false)
    )
    func appsFindEachOtherInAllLifecycles() async {
        await world.search(seeds: 1...Self.seeds, steps: 30, of: Self.scenario)
    }

    /// A ``LifecycleWorld`` has its own devices and time. The searched world only gives its seed.
    @Sendable private static func scenario(_ world: BluetoothTesting.TestWorld) -> Scenario {
        let lives = SharedLives(seed: world.seed)
        return LifecycleWorld.Step.allCases
            .reduce(Scenario(faults: [], checksSystem: false)) { scenario, step in
                scenario.step("\(step)") { number in lives.use { $0.take(step, lot: UInt64(number)) } }
            }
            .check("everything that holds among apps") { lives.use { $0.faults.first } }
            .finally("everything that holds at rest") {
                lives.use {
                    $0.comeToRest()
                    $0.check()
                    return $0.faults.first
                }
            }
    }
}

/// The lives of apps for the closures of a scenario.
private final class SharedLives: Sendable {
    private let world: Mutex<LifecycleWorld>

    init(seed: UInt64) { world = Mutex(LifecycleWorld(seed: seed)) }

    func use<Result: Sendable>(_ body: (LifecycleWorld) -> Result) -> Result { world.withLock { body($0) } }
}
