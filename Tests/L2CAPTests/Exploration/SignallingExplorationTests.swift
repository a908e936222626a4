import StateExplorer
import Testing

@testable import L2CAP

/// The signalling of two ends in all orders of requests, responses, data and late responses (Core Vol 3 Part A 4 and
/// 10.1).
@Suite struct SignallingExplorationTests {
    struct Case: CustomTestStringConvertible {
        let testDescription: String
        let bounds: ExploredSignalling.Bounds
    }

    private static let maximumStates = 100_000

    private static let cases = [
        Case(
            testDescription: "simultaneous opens",
            bounds: .init(counts: [.creditBased: 1, .enhanced: 2], opens: 1, room: 3, closes: 2)
        ),
        Case(
            testDescription: "closing from both ends while data cross",
            bounds: .init(counts: [.creditBased: 1], room: 2, closes: 2, sends: 2)
        ),
        Case(
            testDescription: "many data on few credits",
            bounds: .init(counts: [.enhanced: 1], room: 1, closes: 1, sends: 4)
        ),
        Case(
            testDescription: "reconfiguring from both ends while closing",
            bounds: .init(counts: [.enhanced: 1], room: 1, closes: 1, reconfigures: 2)
        ),
        Case(
            testDescription: "late responses to reconfigurations, and peers that do not understand them",
            bounds: .init(counts: [.enhanced: 1], room: 1, reconfigures: 2, disturbances: 2)
        ),
        Case(
            testDescription: "late responses, and peers that do not understand",
            bounds: .init(
                counts: [.creditBased: 1, .enhanced: 2],
                room: 4,
                closes: 1,
                requestsParameters: true,
                disturbances: 2
            )
        ),
    ]

    @Test(
        "AB-C05, AB-C08: in all orders of requests, responses, data and late responses, both ends agree which channels are open, how many credits they have and how much they accept, every request finishes once, and no channel identifier is lost",
        arguments: cases
    )
    func bothEndsAgree(explored: Case) {
        let found = Exploration(limit: Self.maximumStates) { ExploredSignalling(explored.bounds) }
        print("\(explored.testDescription): \(found.summary)")
        #expect(found.isComplete)
        #expect(found.ends > 0)
        for fault in found.faults { Issue.record("\(fault)") }
    }
}
