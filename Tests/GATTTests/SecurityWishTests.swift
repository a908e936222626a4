import Testing

@testable import GATT

/// The procedures that wait for a link to become secure.
@Suite struct SecurityWishTests {
    private static let all: [SecurityWish] = [
        .none, .asked(commandsWait: false), .asked(commandsWait: true), .commandsWait,
    ]

    private func after(_ change: (inout SecurityWish) -> Bool) -> [(SecurityWish, Bool)] {
        Self.all.map {
            var wish = $0
            let result = change(&wish)
            return (wish, result)
        }
    }

    private func expect(_ outcome: [(SecurityWish, Bool)], _ wishes: [SecurityWish], _ results: [Bool]) {
        #expect(outcome.map(\.0) == wishes)
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
