import Testing

@testable import Administration

/// The machine that knows who has which question.
@Suite struct PromptRoutingTests {
    @Test("a question without a prompter waits if it can, and is decided if it cannot")
    func withoutAPrompter() {
        var routing = PromptRouting()
        #expect(routing.handle(.asked(7, waits: false)) == [.decide(7)])
        #expect(routing.count == 0)
        #expect(routing.handle(.asked(8, waits: true)).isEmpty)
        #expect(routing.handle(.asked(9, waits: true)).isEmpty)
        #expect(routing.count == 2)
        #expect(routing.handle(.prompterAdded(1)) == [.show(8, number: 1, at: 1), .show(9, number: 2, at: 1)])
        #expect(routing.question(1, at: 1) == 8)
        #expect(routing.question(1, at: 2) == nil)
        #expect(routing.question(3, at: 1) == nil)
    }

    @Test("an answer settles what that prompter was shown by that number, once")
    func answers() {
        var routing = PromptRouting()
        _ = routing.handle(.prompterAdded(1))
        _ = routing.handle(.prompterAdded(2))
        #expect(routing.handle(.asked(7, waits: false)) == [.show(7, number: 1, at: 2)])
        #expect(routing.handle(.asked(8, waits: false)) == [.show(8, number: 2, at: 2)])
        #expect(routing.handle(.answered(1, by: 1)).isEmpty)
        #expect(routing.handle(.answered(3, by: 2)).isEmpty)
        #expect(routing.handle(.answered(1, by: 2)) == [.settle(7)])
        #expect(routing.count == 1)
        #expect(routing.handle(.answered(1, by: 2)).isEmpty)
        #expect(routing.question(2, at: 2) == 8)
    }

    @Test("a question that is over is closed where it is shown, and goes where it waits")
    func over() {
        var routing = PromptRouting()
        _ = routing.handle(.asked(7, waits: true))
        #expect(routing.handle(.over(6)).isEmpty)
        #expect(routing.count == 1)
        #expect(routing.handle(.over(7)).isEmpty)
        #expect(routing.count == 0)
        _ = routing.handle(.prompterAdded(1))
        _ = routing.handle(.asked(8, waits: true))
        #expect(routing.handle(.over(8)) == [.close(number: 1, at: 1)])
        #expect(routing.count == 0)
    }

    @Test("questions of a prompter that leaves go to the newest one left, and without one wait or are decided")
    func leaving() {
        var routing = PromptRouting()
        for prompter in 1...3 as ClosedRange<UInt64> { _ = routing.handle(.prompterAdded(prompter)) }
        _ = routing.handle(.asked(7, waits: false))
        _ = routing.handle(.asked(8, waits: true))
        #expect(routing.handle(.prompterRemoved(1)).isEmpty)
        #expect(routing.prompters == [2, 3])
        let moved = routing.handle(.prompterRemoved(3))
        #expect(moved == [.show(7, number: 3, at: 2), .show(8, number: 4, at: 2)])
        #expect(routing.handle(.prompterRemoved(2)) == [.decide(7)])
        #expect(routing.count == 1)
        #expect(routing.prompters.isEmpty)
        #expect(routing.handle(.prompterAdded(4)) == [.show(8, number: 5, at: 4)])
    }

    @Test("AB-G05: 64 questions are open, and 16 prompters are there, and no more")
    func bounds() {
        var routing = PromptRouting()
        for question in 1...64 as ClosedRange<UInt64> {
            #expect(routing.handle(.asked(question, waits: true)).isEmpty)
        }
        #expect(routing.handle(.asked(65, waits: true)) == [.decide(65)])
        #expect(routing.count == 64)
        for prompter in 1...16 as ClosedRange<UInt64> { _ = routing.handle(.prompterAdded(prompter)) }
        _ = routing.handle(.over(1))
        _ = routing.handle(.asked(66, waits: true))
        #expect(routing.handle(.prompterAdded(17)).isEmpty)
        #expect(routing.prompters == Array(1...16))
        #expect(routing.handle(.asked(67, waits: false)) == [.decide(67)])
    }
}
