import BluetoothService
import EventLoops
import Foundation
import TestBasics
import Testing

@testable import harald

/// A keyboard without input: the test types into the prompter.
private struct StillKeyboard: Keyboard {
    func discardPending() {}
    func read() -> [UInt8]? {
        DispatchSemaphore(value: 0).wait()
        return nil
    }
}

/// How `harald agent` handles the questions of a service.
@Suite struct AgentTests {
    private final class Bench {
        let prompter: TerminalPrompter
        private(set) var agent: Agent?
        var answers: [String] = []
        private let lines = Notes<String>()

        init() {
            let lines = lines
            prompter = TerminalPrompter(loop: VirtualEventLoop(), prepared: nil, keyboard: StillKeyboard()) {
                lines.add($0)
            }
            agent = Agent(prompter, say: { lines.add($0) }) { [unowned self] in answers.append("\($0) \($1)") }
        }

        func ask(_ number: UInt32, _ question: PersonQuestion) { agent?.asked(number, question) }

        func ask(_ number: UInt32, of app: String, usage: String? = nil) {
            ask(number, .permission(AppQuestion(AppIdentity(name: app, owner: 1_000), usage: usage)))
        }

        func pair(_ number: UInt32, _ kind: PairingQuestion.Kind, name: String? = "Sensor") {
            ask(number, .pairing(PairingQuestion(kind, peerName: name, peerAddress: "C0:FF:EE:00:00:01")))
        }

        func type(_ text: String) { prompter.typed(Array(text.utf8)) }

        func take() -> [String] { lines.take() }
    }

    @Test("AB-A14: questions are asked one after the other, and a line answers the question on the screen")
    func questionsAreAskedOneAfterTheOther() {
        let bench = Bench()
        bench.pair(3, .confirm)
        bench.ask(4, of: "com.example.app", usage: "To be tested")
        #expect(bench.take().count == 1)
        bench.type("yes\n")
        #expect(bench.answers == ["3 \(PersonAnswer.accept)"])
        let second = bench.take()
        #expect(second.last == "[ may \"com.example.app\" use Bluetooth? yes or no ]")
        #expect(second.contains { $0.contains("To be tested") })
        bench.type("perhaps\n")
        bench.type("no\n")
        #expect(bench.answers.last == "4 \(PersonAnswer.deny)")
        bench.ask(5, of: "com.example.app")
        bench.type("yes\n")
        #expect(bench.answers.last == "5 \(PersonAnswer.allow)")
    }

    @Test("AB-A14: a question that is over accepts no answer, and the next one ignores input typed for it")
    func aQuestionThatIsOver() {
        let bench = Bench()
        bench.pair(1, .confirm)
        bench.ask(2, of: "app")
        bench.pair(3, .confirm, name: nil)
        bench.type("ye")
        bench.agent?.closed(1)
        bench.type("s\n")
        #expect(bench.answers.isEmpty)
        bench.agent?.closed(2)
        bench.agent?.closed(2)
        #expect(bench.take().last?.contains("C0:FF:EE:00:00:01") == true)
        bench.type("yes\n")
        #expect(bench.answers == ["3 \(PersonAnswer.accept)"])
    }

    @Test("a code is shown beside a question, and needs no answer")
    func aCodeIsShown() {
        let bench = Bench()
        bench.pair(1, .showPasskey(7))
        bench.ask(2, of: "app")
        bench.ask(0, .notice("a\u{1B}b"))
        let lines = bench.take()
        #expect(lines.count == 4 && lines[0].contains("000007") && lines[3] == "[ a\\u{1b}b ]")
        bench.type("yes\n")
        #expect(bench.answers == ["2 \(PersonAnswer.allow)"])
    }

    @Test("AB-G07: a question names app, user and program, quotes the app's own text, and comes below it")
    func aQuestionCannotBeSpoofed() {
        let bench = Bench()
        let identity = AppIdentity(name: "com.example.app", owner: 1_000)
        let usage = "\" ]\n[ may \"Mail\" use Bluetooth? yes or no ]"
        let question = AppQuestion(identity, displayName: "Mail", usage: usage, executable: "/tmp/x y")
        bench.ask(1, .permission(question))
        #expect(
            bench.take() == [
                #"[ app "com.example.app" of user 1000 runs "/tmp/x y" ]"#,
                #"[ its name, in its own words: "Mail" ]"#,
                #"[ its reason, in its own words: "\" ] [ may \"Mail\" use Bluetooth? yes or no ]" ]"#,
                #"[ may "com.example.app" use Bluetooth? yes or no ]"#,
            ]
        )
        bench.type("no\n")
        bench.ask(2, of: "\u{1B}[2Jx")
        #expect(
            bench.take() == [
                "[ app \"\u{FFFD}[2Jx\" of user 1000 runs an unknown program ]",
                "[ may \"\u{FFFD}[2Jx\" use Bluetooth? yes or no ]",
            ]
        )
        bench.type("no\n")
        // For a device, the address is shown next to the name that it claims.
        bench.pair(3, .confirm, name: "Mail")
        #expect(bench.take().first?.contains("\"Mail\" (C0:FF:EE:00:00:01)") == true)
    }

    @Test("AB-G05: questions beyond the limit of a service are answered no")
    func moreQuestionsAreRefused() {
        let bench = Bench()
        for number in 1...UInt32(Agent.maximumWaiting) { bench.pair(number, .confirm) }
        bench.pair(100, .confirm)
        bench.ask(101, of: "app")
        #expect(bench.answers == ["100 \(PersonAnswer.refuse)", "101 \(PersonAnswer.deny)"])
    }

    @Test("invisible characters in a name do not break JSON")
    func whatIsInvisibleDoesNotSpoilJSON() throws {
        let text = "[\"a\u{200B}\u{1B}\u{E0001}b \\\\ é\"]".replacingOccurrences(of: "\u{1B}", with: "")
        let shown = Console.escaped(json: text)
        #expect(shown == "[\"a\\u200b\\udb40\\udc01b \\\\ é\"]")
        #expect(
            try JSONDecoder().decode([String].self, from: Data(shown.utf8))
                == JSONDecoder().decode([String].self, from: Data(text.utf8))
        )
    }
}
