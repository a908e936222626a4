import StateExplorer
import Testing

/// The life of an app, and what is kept of it, in all orders of what the user, the radio, the system and the disk do.
@Suite struct AppExplorationTests {
    struct Case: CustomTestStringConvertible {
        let testDescription: String
        let bounds: ExploredApp.Bounds
    }

    private static let maximumStates = 60_000

    private static let cases = [
        Case(
            testDescription: "events and background tasks",
            bounds: .init(events: 5, ends: 0, opens: 1, tasks: true)
        ),
        Case(testDescription: "Live Activities", bounds: .init(events: 2, ends: 1, opens: 2, activities: 2)),
        Case(testDescription: "processes that end", bounds: .init(events: 4, ends: 3, opens: 1)),
        Case(testDescription: "writes that fail", bounds: .init(opens: 0, changes: 3, failures: 2, stops: 1)),
        Case(
            testDescription: "kept connections of an app that dies",
            bounds: .init(events: 1, ends: 1, opens: 1, changes: 3, stops: 1)
        ),
    ]

    @Test(
        "behaviours 9.1, 9.7, 9.17, 9.18, 10.4, 10.15, 10.16, 10.25: in all orders of events, no app runs in the background for ever, every event reaches the app or launches it, and a service that stops at any write has lost nothing that was kept",
        arguments: cases
    )
    func noOrderOfEventsLosesAnything(explored: Case) {
        let found = Exploration(limit: Self.maximumStates) { ExploredApp(explored.bounds) }
        print("\(explored.testDescription): \(found.summary)")
        #expect(found.isComplete)
        #expect(found.states > 100)
        for fault in found.faults { Issue.record("\(fault)") }
    }
}
