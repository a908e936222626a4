import BluetoothTypes
import Dispatch
import EventLoops
import SMP
import Security
import Synchronization
import Testing

@testable import harald

/// A keyboard without input: the test types into the prompter.
private final class StillKeyboard: Keyboard {
    let log = Mutex<[String]>([])

    func discardPending() { log.withLock { $0.append("discard") } }
    func read() -> [UInt8]? {
        // Blocks the thread for the life of the test process, like a terminal without input.
        DispatchSemaphore(value: 0).wait()
        return nil
    }
}

/// A closed standard input, like that of a service.
private struct EndedKeyboard: Keyboard {
    func discardPending() {}
    func read() -> [UInt8]? { nil }
}

/// A terminal at which the user does something else.
private struct OtherwiseUsedKeyboard: Keyboard {
    var isAttended: Bool { false }
    func discardPending() {}
    func read() -> [UInt8]? { nil }
}

/// A terminal in whose background the program runs.
private struct BackgroundKeyboard: Keyboard {
    var isInBackground: Bool { true }
    func discardPending() { Issue.record("only the foreground may touch the terminal") }
    func read() -> [UInt8]? {
        Issue.record("only the foreground may read")
        return nil
    }
}

@Suite struct TerminalPrompterTests {
    /// A prompter with a keyboard, and the answers it gave.
    private final class PrompterSession {
        let loop = VirtualEventLoop()
        let keyboard = StillKeyboard()
        let prompter: TerminalPrompter
        var answers: [PairingAnswer] = []
        var log: [String] { keyboard.log.withLock { $0 } }

        init(prepared: TerminalPrompter.Prepared? = nil) {
            let keyboard = keyboard
            prompter = TerminalPrompter(loop: loop, prepared: prepared, keyboard: keyboard) { line in
                keyboard.log.withLock { $0.append(line) }
            }
        }

        func ask(_ prompt: PairingPrompt, link: UInt64 = 1, name: String? = "Sensor") {
            prompter.prompt(prompt, peer: peer(link, name)) { [unowned self] in answers.append($0) }
        }

        func ask(_ prompt: PairingPrompt, cause: PairingCause) {
            var peer = peer(1, "Sensor")
            peer.cause = cause
            prompter.prompt(prompt, peer: peer) { [unowned self] in answers.append($0) }
        }

        func close(link: UInt64 = 1) { prompter.closePrompt(peer(link, nil)) }

        func type(_ text: String) { prompter.typed(Array(text.utf8)) }

        private func peer(_ link: UInt64, _ name: String?) -> PromptedPeer {
            PromptedPeer(link: link, address: BluetoothAddress(1, kind: .publicDevice), name: name)
        }
    }

    @Test func earlierInputIsDiscarded() {
        let session = PrompterSession()
        session.type("yes\n")
        session.ask(.confirmPairing)
        #expect(session.log.count == 2)
        #expect(session.log.first == "discard")
        #expect(session.log.last?.hasPrefix("[ \"Sensor\" (00:00:00:00:00:01) wants to pair: ") == true)
        #expect(session.answers.isEmpty)
        session.type("yes\n")
        #expect(session.answers == [.accept])
    }

    /// The attacker's prompt replaces the one that the person is about to accept.
    @Test("AB-A14: a yes for one prompt is not accepted for the next")
    func aYesForOnePromptIsNoYesForTheNext() {
        let session = PrompterSession()
        session.ask(.confirmPairing)
        // A line with a yes that was started for the first prompt.
        session.type(" ")
        session.close()
        session.ask(.confirmPairing, link: 2, name: "Intruder")
        session.type("yes\n")
        #expect(session.answers.isEmpty)
        session.type("no\n")
        #expect(session.answers == [.refuse])
    }

    @Test func aYesAndOneMoreInOneGoAnswerOnePrompt() {
        let session = PrompterSession()
        session.ask(.confirmPairing)
        session.type("yes\nyes\n")
        session.ask(.confirmReplacement, link: 2)
        #expect(session.answers == [.accept])
    }

    @Test func invalidAnswersAreRepeatedWithinALimit() {
        let session = PrompterSession()
        session.ask(.enterPasskey)
        // The ends of lines whose beginnings may have been discarded.
        for text in ["", "y", "es", "s", "yes", "123", "1234567", "0x1234"] { session.type(text + "\n") }
        #expect(session.answers.isEmpty)
        #expect(session.log.filter { $0 == "[ six digits, or no ]" }.count == 8)
        session.type(" 012 345 \n")
        #expect(session.answers == [.passkey(12_345)])
        session.ask(.confirmPairing)
        for _ in 1..<TerminalPrompter.maximumWrongAnswers { session.type("y\n") }
        #expect(session.answers == [.passkey(12_345)])
        session.type("y\n")
        #expect(session.answers == [.passkey(12_345), .refuse])
    }

    @Test func aCodeThatIsOnlyShownTakesNoAnswer() {
        let session = PrompterSession()
        session.ask(.showPasskey(42))
        session.type("yes\n")
        #expect(session.log == ["[ \"Sensor\" (00:00:00:00:00:01) wants to pair: enter the code 000042 on it ]"])
        #expect(session.answers.isEmpty)
    }

    @Test func namesInPromptsAreEscaped() {
        let session = PrompterSession()
        session.ask(.confirmPairing, name: "x\"? no ] [ \u{1B}[8m\u{202E}")
        #expect(
            session.log.last?.hasPrefix(#"[ "x\"? no ] [ \u{1b}[8m\u{202e}" (00:00:00:00:00:01) wants to pair: "#)
                == true
        )
        session.close()
        session.ask(.confirmPairing, name: nil)
        #expect(session.log.last?.hasPrefix("[ 00:00:00:00:00:01 wants to pair: ") == true)
    }

    @Test("AB-A14: only the end of its own link closes a prompt")
    func onlyTheEndOfItsOwnLinkClosesAPrompt() {
        let session = PrompterSession()
        session.ask(.confirmPairing)
        session.close(link: 2)
        session.type("yes\n")
        #expect(session.answers == [.accept])
    }

    /// A person who types the code instead of a yes has read it, if it matches.
    @Test(
        "AB-A14: a wrong number is not a yes",
        arguments: [("000007", PairingAnswer.accept), ("000008", .refuse)]
    )
    func aNumberThatDiffersIsNoYes(text: String, answer: PairingAnswer) {
        let session = PrompterSession()
        session.ask(.compare(7))
        session.type(text + "\n")
        #expect(session.answers == [answer])
    }

    /// The question names the device and the consequences of a yes (AB-S09).
    @Test("AB-A14: the question states the consequences")
    func theQuestionSaysWhatIsAtStake() {
        let session = PrompterSession()
        func text(_ prompt: PairingPrompt) -> String {
            session.ask(prompt)
            session.close()
            return session.log.last { $0.hasPrefix("[ ") && $0.contains("Sensor") } ?? ""
        }
        #expect(text(.confirmPairing).contains("its identity cannot be verified"))
        #expect(text(.confirmReplacement).contains("it has lost its keys, or is another device; pair again?"))
        #expect(text(.compare(7)).contains("show 000007 too?"))
        #expect(text(.enterPasskey).contains("which code does it show?"))
    }

    @Test("AB-S17: the question for a passkey states where the passkey comes from, and when to answer no")
    func thePasskeyQuestionsDiffer() {
        let session = PrompterSession()
        session.ask(.enterPasskey)
        session.type("000007\n")
        session.ask(.enterPasskeyOnBoth)
        session.type("yes\n")
        session.type("000008\n")
        session.ask(.enterPasskeyOnBoth)
        session.type("no\n")
        #expect(session.answers == [.passkey(7), .passkey(8), .refuse])
        let questions = session.log.filter { $0.contains("Sensor") }
        #expect(questions.count == 3)
        #expect(questions[0].contains("show? if it asks for one instead, answer no"))
        #expect(questions[1].contains("make up six digits that no device shows"))
        #expect(questions[1].contains("if it shows a code, answer no"))
    }

    @Test("AB-S16: each question says which side began", arguments: PairingCause.allCases)
    func theQuestionSaysWhoBegan(cause: PairingCause) {
        let prompts = [
            PairingPrompt.confirmPairing, .confirmReplacement, .showPasskey(1), .enterPasskey, .enterPasskeyOnBoth,
            .compare(1),
        ]
        for prompt in prompts {
            let session = PrompterSession()
            session.ask(prompt, cause: cause)
            let text = session.log.last ?? ""
            let sensor = "\"Sensor\" (00:00:00:00:00:01)"
            #expect(text.hasPrefix("[ pair with \(sensor), as this program asks: ") == (cause == .app), "\(text)")
            #expect(text.hasPrefix("[ \(sensor) wants to pair: ") == (cause != .app), "\(text)")
        }
    }

    @Test("AB-A14: if no input is possible any more, the answer is no")
    func endOfInputRefuses() {
        let loop = VirtualEventLoop()
        let answers = Mutex<[PairingAnswer]>([])
        let answered = DispatchSemaphore(value: 0)
        let prompter = TerminalPrompter(loop: loop, prepared: nil, keyboard: EndedKeyboard()) { _ in }
        let sensor = PromptedPeer(link: 1, address: BluetoothAddress(1, kind: .publicDevice), name: nil)
        // The second prompt comes after the keyboard has ended.
        for prompt in [PairingPrompt.confirmPairing, .enterPasskey] {
            prompter.prompt(prompt, peer: sensor) { answer in
                answers.withLock { $0.append(answer) }
                answered.signal()
            }
            #expect(answered.wait(timeout: .now() + 30) == .success)
        }
        #expect(answers.withLock { $0 } == [.refuse, .refuse])
    }

    @Test func aPreparedAnswerNeedsNoKeyboard() {
        let session = PrompterSession(prepared: .yes)
        session.ask(.confirmPairing)
        session.ask(.compare(7))
        session.ask(.enterPasskey)
        #expect(session.answers == [.accept, .accept, .refuse])
        #expect(!session.log.contains("discard"))
    }

    @Test func onlyWholeWordsAreAnswers() {
        #expect(TerminalPrompter.Prepared("yes") == .yes)
        #expect(TerminalPrompter.Prepared("NO") == .no)
        for text in ["", "y", "n", "yess", "ye", "12345"] { #expect(TerminalPrompter.Prepared(text) == nil) }
    }

    @Test("a prompt that nobody attends to is declined without being shown, unless its answer is prepared")
    func unattended() {
        for (prepared, answer) in [(nil, .refuse), (.yes, .accept)] as [(TerminalPrompter.Prepared?, PairingAnswer)] {
            var answers: [PairingAnswer] = []
            var lines: [String] = []
            let prompter = TerminalPrompter(
                loop: VirtualEventLoop(),
                prepared: prepared,
                keyboard: OtherwiseUsedKeyboard()
            ) { lines.append($0) }
            let peer = PromptedPeer(link: 1, address: BluetoothAddress(1, kind: .publicDevice), name: nil)
            prompter.prompt(.confirmPairing, peer: peer) { answers.append($0) }
            #expect(answers == [answer])
            #expect(lines.isEmpty == (prepared == nil))
        }
    }

    @Test("in the background of a terminal, a prompt is shown and declined at once, without reading")
    func inTheBackground() {
        for (prepared, answer) in [(nil, .refuse), (.yes, .accept)] as [(TerminalPrompter.Prepared?, PairingAnswer)] {
            var answers: [PairingAnswer] = []
            var lines: [String] = []
            let prompter = TerminalPrompter(
                loop: VirtualEventLoop(),
                prepared: prepared,
                keyboard: BackgroundKeyboard(),
                say: { lines.append($0) },
                remedy: "use fg"
            )
            let peer = PromptedPeer(link: 1, address: BluetoothAddress(1, kind: .publicDevice), name: nil)
            prompter.prompt(.confirmPairing, peer: peer) { answers.append($0) }
            #expect(answers == [answer])
            #expect(lines.count == (prepared == nil ? 2 : 1))
            #expect(lines.last?.contains("use fg") == (prepared == nil))
        }
    }

    @Test("the end of the input is noticed without a prompt once the keyboard is read")
    func theEndOfTheInput() {
        let ended = DispatchSemaphore(value: 0)
        let prompter = TerminalPrompter(
            loop: VirtualEventLoop(),
            prepared: nil,
            keyboard: EndedKeyboard(),
            onEnd: {
                ended.signal()
            }
        )
        prompter.read()
        #expect(ended.wait(timeout: .now() + 30) == .success)
    }
}
