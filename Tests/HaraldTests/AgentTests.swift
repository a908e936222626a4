import EventLoops
import Foundation
import ServiceMessages
import TestBasics
import Testing

@testable import harald

/// A keyboard without input: the test types into the prompter.
private struct SilentKeyboard: Keyboard {
    func discardPending() {}
    func read() -> [UInt8]? {
        DispatchSemaphore(value: 0).wait()
        return nil
    }
}

/// How `harald agent` handles the questions of a service.
@Suite struct AgentTests {
    /// An agent with its prompter, and the answers it gave.
    private final class AgentSession {
        let prompter: TerminalPrompter
        private(set) var agent: Agent?
        var answers: [String] = []
        private let lines = Notes<String>()

        init() {
            let lines = lines
            prompter = TerminalPrompter(loop: VirtualEventLoop(), prepared: nil, keyboard: SilentKeyboard()) {
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
        let session = AgentSession()
        session.pair(3, .confirm)
        session.ask(4, of: "com.example.app", usage: "To be tested")
        #expect(session.take().count == 1)
        session.type("yes\n")
        #expect(session.answers == ["3 \(PersonAnswer.accept)"])
        let second = session.take()
        #expect(second.last == "[ may \"com.example.app\" use Bluetooth? yes or no ]")
        #expect(second.contains { $0.contains("To be tested") })
        session.type("perhaps\n")
        session.type("no\n")
        #expect(session.answers.last == "4 \(PersonAnswer.deny)")
        session.ask(5, of: "com.example.app")
        session.type("yes\n")
        #expect(session.answers.last == "5 \(PersonAnswer.allow)")
    }

    @Test("AB-A14: a question that is over accepts no answer, and the next one ignores input typed for it")
    func aQuestionThatIsOver() {
        let session = AgentSession()
        session.pair(1, .confirm)
        session.ask(2, of: "app")
        session.pair(3, .confirm, name: nil)
        session.type("ye")
        session.agent?.closed(1)
        session.type("s\n")
        #expect(session.answers.isEmpty)
        session.agent?.closed(2)
        session.agent?.closed(2)
        #expect(session.take().last?.contains("C0:FF:EE:00:00:01") == true)
        session.type("yes\n")
        #expect(session.answers == ["3 \(PersonAnswer.accept)"])
    }

    @Test("behaviours 16.3, 16.5, 16.8: a picker is answered with a number, and a new name with a text")
    func accessoriesAreChosen() {
        let session = AgentSession()
        let (one, two) = (UUID(), UUID())
        let app = AppQuestion(AppIdentity(name: "com.example.belts", owner: 1_000), displayName: "Belts")
        session.ask(1, .accessory(AccessoryQuestion(.pick, of: app, [])))
        #expect(session.take() == ["[ \"Belts\" of user 1000 looks for accessories ]"])
        session.agent?.closed(1)
        let offers = [
            AccessoryQuestion.Offer(one, name: "Heart belt", image: "belt", advertisedName: "Belt 1"),
            AccessoryQuestion.Offer(two, name: "Heart belt", isShared: true),
        ]
        session.ask(2, .accessory(AccessoryQuestion(.pick, of: app, offers)))
        #expect(
            session.take() == [
                "[ 1: \"Heart belt\", which calls itself \"Belt 1\", shown as the image \"belt\" ]",
                "[ 2: \"Heart belt\", which another app uses too ]",
                "[ set up which one for \"Belts\" of user 1000? its number, or no ]",
            ]
        )
        for line in ["3", "yes", "2"] { session.type("\(line)\n") }
        #expect(session.take() == ["[ one of the numbers, or no ]", "[ one of the numbers, or no ]"])
        session.ask(3, .accessory(AccessoryQuestion(.rename, of: app, offers)))
        session.type("Left belt\n")
        session.ask(4, .accessory(AccessoryQuestion(.pick, of: app, offers)))
        session.type("no\n")
        session.ask(5, .accessory(AccessoryQuestion(.update, of: app, offers)))
        session.type("yes\n")
        let answers: [PersonAnswer] = [.choose(two), .name("Left belt"), .refuse, .accept]
        #expect(session.answers == zip(2..., answers).map { "\($0) \($1)" })
    }

    @Test("a code is shown beside a question, and needs no answer")
    func aCodeIsShown() {
        let session = AgentSession()
        session.pair(1, .showPasskey(7))
        session.ask(2, of: "app")
        session.ask(0, .notice("a\u{1B}b"))
        let lines = session.take()
        #expect(lines.count == 4 && lines[0].contains("000007") && lines[3] == "[ a\\u{1b}b ]")
        session.type("yes\n")
        #expect(session.answers == ["2 \(PersonAnswer.allow)"])
    }

    @Test("AB-G07: a question names app, user and program, quotes the app's own text, and comes below it")
    func aQuestionCannotBeSpoofed() {
        let session = AgentSession()
        let identity = AppIdentity(name: "com.example.app", owner: 1_000)
        let usage = "\" ]\n[ may \"Mail\" use Bluetooth? yes or no ]"
        let question = AppQuestion(identity, displayName: "Mail", usage: usage, executable: "/tmp/x y")
        session.ask(1, .permission(question))
        #expect(
            session.take() == [
                #"[ app "com.example.app" of user 1000 runs "/tmp/x y" ]"#,
                #"[ its name, in its own words: "Mail" ]"#,
                #"[ its reason, in its own words: "\" ] [ may \"Mail\" use Bluetooth? yes or no ]" ]"#,
                #"[ may "com.example.app" use Bluetooth? yes or no ]"#,
            ]
        )
        session.type("no\n")
        session.ask(2, of: "\u{1B}[2Jx")
        #expect(
            session.take() == [
                "[ app \"\u{FFFD}[2Jx\" of user 1000 runs an unknown program ]",
                "[ may \"\u{FFFD}[2Jx\" use Bluetooth? yes or no ]",
            ]
        )
        session.type("no\n")
        // For a device, the address is shown next to the name that it claims.
        session.pair(3, .confirm, name: "Mail")
        #expect(session.take().first?.contains("\"Mail\" (C0:FF:EE:00:00:01)") == true)
    }

    @Test("AB-S16: a question names the apps that need the pairing, or says that the device began")
    func aQuestionSaysWhoBegan() {
        let session = AgentSession()
        let apps = [AppIdentity(name: "com.example.Heart", owner: 1_000), AppIdentity(name: "a\" asks", owner: 7)]
        let origins: [(PairingQuestion.Origin, String)] = [
            (.peer, #"[ "Sensor" (C0:FF:EE:00:00:01) wants to pair: "#),
            (.apps([]), #"[ pair with "Sensor" (C0:FF:EE:00:00:01), as an app here asks: "#),
            (.apps([apps[0]]), #"as "com.example.Heart" of user 1000 asks: "#),
            (.apps(apps), #"as "com.example.Heart" of user 1000 and "a\" asks" of user 7 ask: "#),
        ]
        for (number, (origin, text)) in origins.enumerated() {
            var question = PairingQuestion(.confirm, peerName: "Sensor", peerAddress: "C0:FF:EE:00:00:01")
            question.origin = origin
            session.ask(UInt32(number), .pairing(question))
            session.type("no\n")
            let line = session.take().first ?? ""
            #expect(line.contains(text), "\(line)")
        }
    }

    @Test("AB-G05: questions beyond the limit of a service are answered no")
    func moreQuestionsAreRefused() {
        let session = AgentSession()
        for number in 1...UInt32(Agent.maximumWaiting) { session.pair(number, .confirm) }
        session.pair(100, .confirm)
        session.ask(101, of: "app")
        #expect(session.answers == ["100 \(PersonAnswer.refuse)", "101 \(PersonAnswer.deny)"])
    }

    @Test("invisible characters in a name do not break JSON")
    func invisibleCharactersKeepJSONValid() throws {
        let text = "[\"a\u{200B}\u{1B}\u{E0001}b \\\\ é\"]".replacingOccurrences(of: "\u{1B}", with: "")
        let shown = Console.escaped(json: text)
        #expect(shown == "[\"a\\u200b\\udb40\\udc01b \\\\ é\"]")
        #expect(
            try JSONDecoder().decode([String].self, from: Data(shown.utf8))
                == JSONDecoder().decode([String].self, from: Data(text.utf8))
        )
    }
}
