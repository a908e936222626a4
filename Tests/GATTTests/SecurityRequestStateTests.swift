import Testing

@testable import GATT

/// The procedures that wait for a link to become secure.
@Suite struct SecurityRequestStateTests {
    private static let all: [SecurityRequestState] = [
        .none, .asked(commandsWait: false), .asked(commandsWait: true), .commandsWait,
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
                $0.commandRefused()
                return $0.isAsked
            },
            [.commandsWait, .asked(commandsWait: true), .asked(commandsWait: true), .commandsWait],
            [false, true, true, false]
        )
        expect(
            after {
                $0.ask()
                return $0.isAsked
            },
            [
                .asked(commandsWait: false), .asked(commandsWait: false), .asked(commandsWait: true),
                .asked(commandsWait: true),
            ],
            [true, true, true, true]
        )
        expect(after { $0.answered() }, [.none, .none, .commandsWait, .commandsWait], [false, true, true, false])
        expect(
            after { $0.secured() },
            [.none, .asked(commandsWait: false), .asked(commandsWait: false), .none],
            [false, false, true, true]
        )
    }
}
