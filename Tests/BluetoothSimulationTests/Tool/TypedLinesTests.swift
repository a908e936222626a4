import Testing

@testable import harald

@Suite struct TypedLinesTests {
    private struct Bench {
        var lines = TypedLines()
        var answers: [String] = []

        mutating func type(_ text: String) { handle(.typed(Array(text.utf8))) }

        mutating func handle(_ event: TypedLines.Event) {
            for case .answer(let text) in lines.handle(event) { answers.append(text) }
        }
    }

    @Test func aLineAnswersThePromptThatWasOnTheScreen() {
        var bench = Bench()
        bench.handle(.opened)
        bench.type("yes\n")
        #expect(bench.answers == ["yes"])
        bench.handle(.closed)
        bench.handle(.opened)
        for octet in "no\n" { bench.type(String(octet)) }
        #expect(bench.answers == ["yes", "no"])
    }

    @Test func whatHasNotBeenReadIsThrownAwayWhenAPromptOpens() {
        var lines = TypedLines()
        #expect(lines.handle(.opened) == [.discardPending])
        #expect(lines.handle(.closed) == [])
        #expect(lines.handle(.opened) == [.discardPending])
    }

    @Test func whatWasTypedBeforeAPromptIsNoAnswerToIt() {
        var bench = Bench()
        bench.type("yes\nyes\n")
        bench.handle(.opened)
        #expect(bench.answers.isEmpty)
        bench.type("no\n")
        #expect(bench.answers == ["no"])
    }

    /// Holds wherever in the line the prompt appears.
    @Test func aLineThatBeganBeforeThePromptIsNoAnswerToIt() {
        for cut in 1...3 {
            var bench = Bench()
            bench.type(String("yes".prefix(cut)))
            bench.handle(.opened)
            bench.type(String("yes".dropFirst(cut)) + "\n")
            #expect(bench.answers.isEmpty)
            bench.type("no\n")
            #expect(bench.answers == ["no"])
        }
    }

    @Test func aLineThatBeganForAnotherPromptIsNoAnswerToTheNext() {
        for (before, after) in [("y", "es\n"), ("yes", "\n"), ("y", "es")] {
            var bench = Bench()
            bench.handle(.opened)
            bench.type(before)
            bench.handle(.closed)
            bench.handle(.opened)
            bench.type(after)
            if !after.hasSuffix("\n") { bench.type("\n") }
            #expect(bench.answers.isEmpty)
            bench.type("no\n")
            #expect(bench.answers == ["no"])
        }
    }

    @Test func linesBehindAnAnswerAreNoAnswersToWhatComesNext() {
        for rest in ["yes\n", "yes", "y"] {
            var bench = Bench()
            bench.handle(.opened)
            bench.type("yes\n" + rest)
            #expect(bench.answers == ["yes"])
            bench.handle(.closed)
            bench.handle(.opened)
            bench.type(rest.hasSuffix("\n") ? "no\n" : "es\nno\n")
            #expect(bench.answers == ["yes", "no"])
        }
    }

    @Test func aPromptInPlaceOfAnotherGetsNothingOfItsLine() {
        var bench = Bench()
        bench.handle(.opened)
        bench.type("ye")
        bench.handle(.opened)
        bench.type("s\n")
        #expect(bench.answers.isEmpty)
    }

    @Test func aLineWithoutEndTakesNoMemoryAndIsNoAnswer() {
        var bench = Bench()
        bench.handle(.opened)
        for _ in 0..<10_000 { bench.type("yyyyyyyyyyyyyyyy") }
        bench.type("\n")
        #expect(bench.answers.isEmpty)
        bench.type(String(repeating: "y", count: 65) + "\n")
        #expect(bench.answers == [""])
        bench.handle(.typed([0xFF, 0x0A]))
        #expect(bench.answers == ["", "\u{FFFD}"])
    }
}
