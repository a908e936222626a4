import Synchronization
import Testing

/// Worlds of tests that lack the trait ``Testing/Trait/world``. Such a test fails, but the others go on.
enum MissingWorlds {
    private static let last = Mutex<(test: Test.ID, world: TestWorld)?>(nil)

    /// Returns the world of the running test, which fails.
    static func world() -> TestWorld {
        guard let test = Test.current else {
            preconditionFailure(
                """
                there is no world here: use it in tasks of a test only, and not in Task.detached, threads or queues. \
                In XCTest, inherit from WorldTestCase
                """
            )
        }
        if let last = last.withLock({ $0 }), last.test == test.id { return last.world }
        let place = test.sourceLocation
        Issue.record(
            "\(test.name) has no world: give the test or its suite the trait .world, and use it in tasks of the test only",
            sourceLocation: place
        )
        let world = TestWorld(seed: WorldSeed.standard, name: test.name, .machine, keepsCaptures: false) {
            Issue.record(Comment(rawValue: $0.text), sourceLocation: $0.place ?? place)
        }
        last.withLock { $0 = (test.id, world) }
        return world
    }
}
