import BluetoothTesting
import EventLoops
import Foundation
import Synchronization
import Testing

@Suite struct RandomWorldTests {
    /// The number of seeds. For longer runs by hand, set `HARALD_SEEDS` in the environment. The first seed is
    /// `HARALD_FIRST_SEED`.
    private static let seeds = number("HARALD_SEEDS") ?? 20
    private static let first = number("HARALD_FIRST_SEED") ?? 1

    /// The seeds of a test with its own number of worlds, unless the environment has one.
    static func seeds(by count: UInt64) -> ClosedRange<UInt64> {
        first...(first + (number("HARALD_SEEDS") ?? count) - 1)
    }

    private static func number(_ name: String) -> UInt64? {
        ProcessInfo.processInfo.environment[name].flatMap { UInt64($0) }
    }

    @Test(
        "behaviours 1.3, 1.4, 1.9 to 1.13, 3.12, 3.39, 4.20, 5.18 to 5.20, 9.3, 10.1, 10.3 to 10.12, 10.15 to 10.18: in random worlds every request ends, no subscription is lost silently, everything arrives in order, no app sees another's data, and the restored state equals a model's",
        .world(appTime: .machine, keepsCaptures: false)
    )
    func randomWorldsKeepTheRules() async {
        await world.search(seeds: Self.first...(Self.first + Self.seeds - 1), steps: 25, of: Self.scenario)
    }

    /// A ``RandomWorld`` has its own devices and time. The searched world only gives its seed.
    @Sendable private static func scenario(_ world: BluetoothTesting.TestWorld) -> Scenario {
        let random = SharedWorld(seed: world.seed)
        let scenario = WorldStep.Kind.allCases.reduce(Scenario(faults: [], checksSystem: false)) { scenario, kind in
            scenario.step("\(kind)", weight: kind.weight) { number in
                random.use { $0.take(WorldStep(kind: kind, lot: UInt64(number))) }
            }
        }
        return
            scenario
            .check("everything that holds in a random world") { random.use { $0.faults.first } }
            .finally("everything that holds at rest") {
                random.use {
                    $0.comeToRest()
                    if $0.faults.isEmpty { $0.end() }
                    return $0.faults.first
                }
            }
    }
}

/// A random world for the closures of a scenario.
private final class SharedWorld: Sendable {
    private let world: Mutex<RandomWorld>

    init(seed: UInt64) { world = Mutex(RandomWorld(seed: seed)) }

    func use<Result: Sendable>(_ body: (RandomWorld) -> Result) -> Result { world.withLock { body($0) } }
}
