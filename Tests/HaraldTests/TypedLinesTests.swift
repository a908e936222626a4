import Testing

@testable import harald

@Suite struct TypedLinesTests {
    /// Typed lines, and the answers in them.
    private struct TypedAnswers {
        var lines = TypedLines()
        var answers: [String] = []

        mutating func type(_ text: String) { handle(.typed(Array(text.utf8))) }

        mutating func handle(_ event: TypedLines.Event) {
            for case .answer(let text) in lines.handle(event) { answers.append(text) }
        }
    }

    @Test func aLineAnswersThePromptThatWasOnTheScreen() {
        var typed = TypedAnswers()
        typed.handle(.opened)
        typed.type("yes\n")
        #expect(typed.answers == ["yes"])
        typed.handle(.closed)
        typed.handle(.opened)
        for octet in "no\n" { typed.type(String(octet)) }
        #expect(typed.answers == ["yes", "no"])
    }

    @Test func openingAPromptDiscardsUnreadInput() {
        var lines = TypedLines()
        #expect(lines.handle(.opened) == [.discardPending])
        #expect(lines.handle(.closed) == [])
        #expect(lines.handle(.opened) == [.discardPending])
    }

    @Test func earlierInputDoesNotAnswerAPrompt() {
        var typed = TypedAnswers()
        typed.type("yes\nyes\n")
        typed.handle(.opened)
        #expect(typed.answers.isEmpty)
        typed.type("no\n")
        #expect(typed.answers == ["no"])
    }

    /// Holds wherever in the line the prompt appears.
    @Test func aLineThatBeganBeforeThePromptIsNoAnswerToIt() {
        for cut in 1...3 {
            var typed = TypedAnswers()
            typed.type(String("yes".prefix(cut)))
            typed.handle(.opened)
            typed.type(String("yes".dropFirst(cut)) + "\n")
            #expect(typed.answers.isEmpty)
            typed.type("no\n")
            #expect(typed.answers == ["no"])
        }
    }

    @Test func aLineThatBeganForAnotherPromptIsNoAnswerToTheNext() {
        for (before, after) in [("y", "es\n"), ("yes", "\n"), ("y", "es")] {
            var typed = TypedAnswers()
            typed.handle(.opened)
            typed.type(before)
            typed.handle(.closed)
            typed.handle(.opened)
            typed.type(after)
            if !after.hasSuffix("\n") { typed.type("\n") }
            #expect(typed.answers.isEmpty)
            typed.type("no\n")
            #expect(typed.answers == ["no"])
        }
    }

    @Test func linesBehindAnAnswerAreNoAnswersToWhatComesNext() {
        for rest in ["yes\n", "yes", "y"] {
            var typed = TypedAnswers()
            typed.handle(.opened)
            typed.type("yes\n" + rest)
            #expect(typed.answers == ["yes"])
            typed.handle(.closed)
            typed.handle(.opened)
            typed.type(rest.hasSuffix("\n") ? "no\n" : "es\nno\n")
            #expect(typed.answers == ["yes", "no"])
        }
    }

    @Test func aPromptInPlaceOfAnotherGetsNothingOfItsLine() {
        var typed = TypedAnswers()
        typed.handle(.opened)
        typed.type("ye")
        typed.handle(.opened)
        typed.type("s\n")
        #expect(typed.answers.isEmpty)
    }

    @Test func aLineWithoutEndTakesNoMemoryAndIsNoAnswer() {
        var typed = TypedAnswers()
        typed.handle(.opened)
        for _ in 0..<10_000 { typed.type("yyyyyyyyyyyyyyyy") }
        typed.type("\n")
        #expect(typed.answers.isEmpty)
        typed.type(String(repeating: "y", count: 65) + "\n")
        #expect(typed.answers == [""])
        typed.handle(.typed([0xFF, 0x0A]))
        #expect(typed.answers == ["", "\u{FFFD}"])
    }
}
