import StateExplorer
import Testing

@testable import LinkLayer

/// Two ends of a link whose hosts start any control procedures, also at once (Core Vol 6 Part B 5.3), in all orders of
/// their starts, answers, connection events and losses.
@Suite struct LinkControlExplorationTests {
    struct Case: CustomTestStringConvertible {
        let testDescription: String
        let bounds: ExploredLinkControl.Bounds
    }

    private static let maximumStates = 200_000

    private static let instants: Set<ExploredLinkControl.Wish> = [.phy, .parameters]

    private static let cases = [
        Case(
            testDescription: "changes of the link",
            bounds: .init(
                requests: [.central: instants.union([.channelMap]), .peripheral: instants],
                starts: 4,
                losses: 0
            )
        ),
        Case(
            testDescription: "changes of the link, with losses",
            bounds: .init(
                requests: [.central: instants.union([.channelMap]), .peripheral: instants],
                starts: 2,
                losses: 2
            )
        ),
        Case(
            testDescription: "encryption beside changes of the link",
            bounds: .init(
                requests: [.central: instants.union([.channelMap, .encrypt]), .peripheral: instants],
                starts: 3,
                losses: 0
            )
        ),
        Case(
            testDescription: "encryption beside exchanges, with a loss",
            bounds: .init(
                requests: [.central: [.encrypt, .length, .version], .peripheral: [.length, .features, .ping]],
                starts: 3,
                losses: 1
            )
        ),
        Case(
            testDescription: "exchanges of facts",
            bounds: .init(
                requests: [
                    .central: [.version, .features, .length, .ping, .clockAccuracy],
                    .peripheral: [.version, .features, .length, .ping, .clockAccuracy],
                ],
                starts: 3,
                losses: 0
            )
        ),
        Case(
            testDescription: "termination",
            bounds: .init(
                requests: [
                    .central: [.terminate, .encrypt, .parameters, .features],
                    .peripheral: [.terminate, .phy, .length],
                ],
                starts: 3,
                losses: 1
            )
        ),
    ]

    @Test(
        "AB-L04: in all orders of procedures, events and losses, no procedure waits for ever, each end is told what it became of, no link ends without cause, and both ends use the same parameters from each instant on",
        arguments: cases
    )
    func bothEndsAgree(explored: Case) {
        let found = Exploration(limit: Self.maximumStates) { ExploredLinkControl(explored.bounds) }
        print("\(explored.testDescription): \(found.summary)")
        #expect(found.isComplete)
        #expect(found.ends > 1)
        for fault in found.faults { Issue.record("\(fault)") }
    }
}
