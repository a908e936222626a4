import SMP
import Testing

@testable import Security

/// Prompts of several links, one at a time.
@Suite struct PromptQueueTests {
    private func entry(_ link: UInt64, _ prompt: PairingPrompt = .confirmPairing, ticket: UInt64? = nil)
        -> PromptQueue.Entry
    {
        PromptQueue.Entry(link: link, prompt: prompt, ticket: ticket ?? link, cause: .stranger)
    }

    @Test func onePromptIsOpenAtATime() {
        var queue = PromptQueue()
        #expect(queue.handle(.ask(entry(1))) == [.open(entry(1))])
        #expect(queue.handle(.ask(entry(2))) == [])
        #expect(queue.handle(.ask(entry(3))) == [])
        #expect(
            queue.handle(.answered(ticket: 1, .accept)) == [.answer(entry(1), .accept), .open(entry(2))]
        )
        // The pairing continues: there is no prompt left to close.
        #expect(queue.handle(.close(link: 1)) == [])
        #expect(queue.handle(.close(link: 2)) == [.close(link: 2), .open(entry(3))])
        #expect(queue.handle(.answered(ticket: 3, .refuse)) == [.answer(entry(3), .refuse)])
    }

    @Test func aPasskeyStaysUntilThePairingGoesOn() {
        var queue = PromptQueue()
        let shown = entry(1, .showPasskey(123_456))
        #expect(queue.handle(.ask(shown)) == [.open(shown)])
        #expect(queue.handle(.ask(entry(2))) == [])
        #expect(queue.handle(.answered(ticket: 1, .accept)) == [])
        #expect(queue.handle(.close(link: 1)) == [.close(link: 1), .open(entry(2))])
    }

    @Test func aPasskeyThatIsShownCanBeRefused() {
        var queue = PromptQueue()
        let shown = entry(1, .showPasskey(1))
        _ = queue.handle(.ask(shown))
        #expect(queue.handle(.answered(ticket: 1, .refuse)) == [.answer(shown, .refuse)])
    }

    @Test func typingKeepsThePromptOpen() {
        var queue = PromptQueue()
        _ = queue.handle(.ask(entry(1, .enterPasskey)))
        let digit = PairingAnswer.typing(.digitEntered)
        #expect(queue.handle(.answered(ticket: 1, digit)) == [.answer(entry(1, .enterPasskey), digit)])
        #expect(queue.handle(.answered(ticket: 1, .passkey(1))) == [.answer(entry(1, .enterPasskey), .passkey(1))])
    }

    @Test func staleAnswersGoNowhere() {
        var queue = PromptQueue()
        _ = queue.handle(.ask(entry(1, ticket: 10)))
        #expect(
            queue.handle(.ask(entry(1, .enterPasskey, ticket: 11)))
                == [.close(link: 1), .open(entry(1, .enterPasskey, ticket: 11))]
        )
        #expect(queue.handle(.answered(ticket: 10, .accept)) == [])
        _ = queue.handle(.close(link: 1))
        #expect(queue.handle(.answered(ticket: 11, .accept)) == [])
    }

    @Test func theQueueIsBounded() {
        var queue = PromptQueue()
        for link in 0...UInt64(PromptQueue.maximumWaiting) { _ = queue.handle(.ask(entry(link))) }
        #expect(queue.handle(.ask(entry(99))) == [.answer(entry(99), .refuse)])
    }

    @Test func aLinkThatWaitsAndDiesIsForgotten() {
        var queue = PromptQueue()
        _ = queue.handle(.ask(entry(1)))
        _ = queue.handle(.ask(entry(2)))
        #expect(queue.handle(.close(link: 2)) == [])
        #expect(queue.handle(.answered(ticket: 1, .accept)) == [.answer(entry(1), .accept)])
    }

    @Test("AB-A14: without a prompter the queue refuses every prompt")
    func withoutAPrompterEveryAnswerIsNo() {
        var queue = PromptQueue()
        _ = queue.handle(.ask(entry(1)))
        _ = queue.handle(.ask(entry(2, .compare(5))))
        #expect(
            queue.handle(.prompterRemoved) == [.answer(entry(1), .refuse), .answer(entry(2, .compare(5)), .refuse)]
        )
    }

    /// The next prompter gets no earlier prompt.
    @Test("AB-A14: no prompt is left when the prompter is gone")
    func releasedPromptersLeaveNoPrompts() {
        var queue = PromptQueue()
        for link: UInt64 in 1...3 { _ = queue.handle(.ask(entry(link))) }
        _ = queue.handle(.prompterRemoved)
        #expect(queue.handle(.prompterRemoved) == [])
        #expect(queue.handle(.answered(ticket: 1, .accept)) == [])
        #expect(queue.handle(.ask(entry(4))) == [.open(entry(4))])
        #expect(queue.handle(.answered(ticket: 4, .accept)) == [.answer(entry(4), .accept)])
    }

    /// A queued link's later prompt replaces its earlier one, and no others.
    @Test func laterPromptsReplaceEarlierOnesOfALink() {
        var queue = PromptQueue()
        for link: UInt64 in 1...3 { _ = queue.handle(.ask(entry(link))) }
        let later = entry(2, .compare(5), ticket: 9)
        #expect(queue.handle(.ask(later)) == [])
        #expect(queue.handle(.answered(ticket: 1, .accept)) == [.answer(entry(1), .accept), .open(entry(3))])
        #expect(queue.handle(.answered(ticket: 3, .accept)) == [.answer(entry(3), .accept), .open(later)])
        #expect(queue.handle(.close(link: 2)) == [.close(link: 2)])
    }

    @Test func queuedPromptsKeepTheirOrder() {
        var queue = PromptQueue()
        #expect(queue.handle(.ask(entry(0))) == [.open(entry(0))])
        for link: UInt64 in 1...8 { #expect(queue.handle(.ask(entry(link))) == []) }
        #expect(queue.handle(.ask(entry(9))) == [.answer(entry(9), .refuse)])
        for link: UInt64 in 0..<8 {
            let actions = queue.handle(.answered(ticket: link, .accept))
            #expect(actions == [.answer(entry(link), .accept), .open(entry(link + 1))])
        }
        #expect(queue.handle(.answered(ticket: 8, .accept)) == [.answer(entry(8), .accept)])
    }

    /// The link's replacement is agreed on, so the next prompt opens while the pairing runs.
    @Test func consentToAReplacementLetsTheNextPromptOpen() {
        var queue = PromptQueue()
        let replacement = entry(1, .confirmReplacement)
        _ = queue.handle(.ask(replacement))
        _ = queue.handle(.ask(entry(2)))
        #expect(queue.handle(.answered(ticket: 1, .accept)) == [.answer(replacement, .accept), .open(entry(2))])
        // The pairing's next prompt waits for its turn.
        let number = entry(1, .compare(5), ticket: 3)
        #expect(queue.handle(.ask(number)) == [])
        #expect(queue.handle(.answered(ticket: 2, .accept)) == [.answer(entry(2), .accept), .open(number)])
    }
}
