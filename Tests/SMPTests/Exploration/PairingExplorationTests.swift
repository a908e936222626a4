import StateExplorer
import Testing

@testable import SMP

/// Two pairing machines in every order of commands, users and time-outs, with losses, repetitions, refusals and ends of
/// the link at any points.
@Suite struct PairingExplorationTests {
    struct Pair: CustomTestStringConvertible {
        let testDescription: String
        var initiator = PairingConfiguration()
        var responder = PairingConfiguration()
    }

    private static let disturbances = 2
    private static let maximumStates = 60_000

    private static let pairs: [Pair] = [
        pair("secure, numbers compared") {
            $0.ioCapability = .displayYesNo
        } _: {
            $0.ioCapability = .displayYesNo
        },
        pair("secure, no input or output") { _ in
        } _: {
            $0.ioCapability = .noInputNoOutput
        },
        pair("legacy, passkey entered") {
            $0.legacy = .only
            $0.ioCapability = .keyboardOnly
        } _: {
            $0.legacy = .only
            $0.ioCapability = .displayOnly
        },
        pair("legacy with one side, no input or output") { _ in
        } _: {
            $0.legacy = .only
            $0.ioCapability = .noInputNoOutput
        },
        pair("a short key is offered and accepted") {
            $0.minimumKeySize = 7
        } _: {
            $0.ioCapability = .noInputNoOutput
            ($0.minimumKeySize, $0.maximumKeySize) = (7, 10)
        },
        pair("a short key is offered and refused") { _ in
        } _: {
            $0.ioCapability = .noInputNoOutput
            ($0.minimumKeySize, $0.maximumKeySize) = (7, 10)
        },
    ]

    private static func pair(
        _ name: String,
        _ initiator: (inout PairingConfiguration) -> Void,
        _ responder: (inout PairingConfiguration) -> Void
    ) -> Pair {
        var pair = Pair(testDescription: name)
        initiator(&pair.initiator)
        responder(&pair.responder)
        return pair
    }

    @Test(
        "in all orders of events, with up to two disturbances, pairing ends on both sides, with the same key of sufficient size or none, and no key is sent in the clear",
        arguments: pairs
    )
    func bothSidesAgree(pair: Pair) {
        let found = Exploration(limit: Self.maximumStates) {
            ExploredPairing(pair.initiator, pair.responder, disturbances: Self.disturbances)
        }
        print("\(pair.testDescription): \(found.summary)")
        #expect(found.isComplete)
        #expect(found.ends > 1)
        for fault in found.faults { Issue.record("\(fault)") }
    }
}
