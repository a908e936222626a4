import Testing

@testable import GATT

/// The procedures that wait for a link to become secure.
@Suite struct SecurityRequestStateTests {
    private static let all: [SecurityRequestState] = [
        [], .asked, [.asked, .commandsWait], .commandsWait,
    ]

    private func after(_ change: (inout SecurityRequestState) -> Bool) -> [(SecurityRequestState, Bool)] {
        Self.all.map {
            var request = $0
            let result = change(&request)
            return (request, result)
        }
    }

    private func expect(
        _ outcome: [(SecurityRequestState, Bool)],
        _ requests: [SecurityRequestState],
        _ results: [Bool]
    ) {
        #expect(outcome.map(\.0) == requests)
        #expect(outcome.map(\.1) == results)
    }

    @Test("commands keep waiting when the owner does not secure the link, and an answer counts once")
    func everyEventInEveryState() {
        expect(
            after {
                $0.insert(.commandsWait)
                return $0.contains(.asked)
            },
            [.commandsWait, [.asked, .commandsWait], [.asked, .commandsWait], .commandsWait],
            [false, true, true, false]
        )
        expect(
            after {
                $0.insert(.asked)
                return $0.contains(.asked)
            },
            [.asked, .asked, [.asked, .commandsWait], [.asked, .commandsWait]],
            [true, true, true, true]
        )
        expect(
            after { $0.remove(.asked) != nil },
            [[], [], .commandsWait, .commandsWait],
            [false, true, true, false]
        )
        expect(
            after { $0.remove(.commandsWait) != nil },
            [[], .asked, .asked, []],
            [false, false, true, true]
        )
    }
}
