import BluetoothTypes
import Foundation
import SMP
import Security
import ServiceMessages
import Testing

@testable import Administration
@testable import BluetoothService

/// Questions to the user: which prompter shows them, and what happens without one.
@Suite struct PromptDeskTests {
    /// A tool that answers questions.
    private final class Prompter {
        private(set) var shown: [(number: UInt32, question: PersonQuestion)] = []
        private(set) var closed: [UInt32] = []
        private(set) var notices: [String] = []
        private let desk: PromptDesk
        private(set) var registration: PromptDesk.Registration?

        init?(_ desk: PromptDesk) {
            self.desk = desk
            registration = desk.add { [unowned self] reply in
                switch reply {
                case .prompt(_, .notice(let text)): notices.append(text)
                case .prompt(let number, let question): shown.append((number, question))
                case .promptClosed(let number): closed.append(number)
                case .answer, .event, .goodbye: break
                }
            }
            guard let registration else { return nil }
            desk.open(registration)
        }

        func answer(_ answer: PersonAnswer, to number: UInt32? = nil) {
            guard let registration, let number = number ?? shown.last?.number else { return }
            desk.answer(number, answer, by: registration)
        }

        func leave() { if let registration { desk.remove(registration) } }
    }

    /// A system with a desk, and the answers it received.
    private final class DeskOwner {
        let world = ServiceWorld()
        let device: TestDevice
        let desk: PromptDesk
        var answers: [PairingAnswer] = []

        init(_ policy: String = "") throws {
            device = world.device("Phone")
            desk = PromptDesk(device.system, policy: try PolicyFile(parsing: Array(policy.utf8)))
        }

        func peer(_ link: UInt64 = 1) -> PromptedPeer {
            PromptedPeer(link: link, address: BluetoothAddress(0xC0FF_EE00_0001, kind: .randomDevice), name: "Belt")
        }

        func ask(_ prompt: PairingPrompt = .confirmPairing, link: UInt64 = 1) {
            desk.prompt(prompt, peer: peer(link)) { [unowned self] in answers.append($0) }
        }
    }

    @Test("AB-A14: a system can ask a prompter or an accepting rule, and nothing without either")
    func presence() throws {
        let owner = try DeskOwner()
        #expect(owner.device.system.peers.deviceSecurity.prompter == nil)
        let prompter = try #require(Prompter(owner.desk))
        #expect(owner.device.system.peers.deviceSecurity.prompter === owner.desk)
        prompter.leave()
        #expect(owner.device.system.peers.deviceSecurity.prompter == nil)
        owner.desk.policy = try PolicyFile(parsing: Array("pair peer=Belt yes".utf8))
        #expect(owner.device.system.peers.deviceSecurity.prompter === owner.desk)
        owner.desk.policy = try PolicyFile(parsing: Array("pair no".utf8))
        #expect(owner.device.system.peers.deviceSecurity.prompter == nil)
    }

    @Test(
        "behaviour 16.3: views of AccessorySetupKit need a prompter; a newer one of the same number replaces the older"
    )
    func accessoryQuestions() throws {
        let owner = try DeskOwner("pair yes")
        let accessories = owner.device.system.apps.accessories
        #expect(accessories.prompter == nil)
        let prompter = try #require(Prompter(owner.desk))
        #expect(accessories.prompter === owner.desk)
        var answers: [PersonAnswer] = []
        func ask(_ offers: [UUID]) {
            let shown = offers.map { AccessoryQuestion.Offer($0, name: "Belt") }
            let question = AccessoryQuestion(.pick, of: AppQuestion(AppIdentity(name: "belts")), shown)
            owner.desk.askAboutAccessories(question, number: 7) { answers.append($0) }
        }
        let belt = UUID()
        ask([])
        ask([belt])
        #expect(prompter.closed == prompter.shown.prefix(1).map(\.number))
        prompter.answer(.allow)
        prompter.answer(.choose(belt))
        prompter.answer(.refuse)
        #expect(answers == [.choose(belt)])
        ask([belt])
        owner.desk.closeAccessoryQuestion(7)
        #expect(prompter.closed.count == 2)
        ask([belt])
        prompter.leave()
        #expect(answers == [.choose(belt), .refuse])
        #expect(accessories.prompter == nil)
    }

    @Test("the latest prompter gets a question with its subject, and its answer counts once")
    func theNewestIsAsked() throws {
        let owner = try DeskOwner()
        let (old, new) = (try #require(Prompter(owner.desk)), try #require(Prompter(owner.desk)))
        owner.ask(.compare(123_456))
        #expect(old.shown.isEmpty)
        #expect(new.shown.count == 1)
        let expected = PairingQuestion(.compare(123_456), peerName: "Belt", peerAddress: "C0:FF:EE:00:00:01")
        #expect(new.shown.first?.question == .pairing(expected))
        // Another prompter cannot answer, and an answer that does not fit the question has no effect.
        old.answer(.accept, to: new.shown[0].number)
        new.answer(.allow)
        new.answer(.passkey(123_456))
        new.answer(.accept, to: 99)
        #expect(owner.answers.isEmpty)
        new.answer(.accept)
        new.answer(.refuse)
        #expect(owner.answers == [.accept])
    }

    @Test("an entered code has six digits, and a displayed one stays until the pairing is over")
    func codes() throws {
        let owner = try DeskOwner()
        let prompter = try #require(Prompter(owner.desk))
        owner.ask(.enterPasskey)
        prompter.answer(.passkey(1_000_000))
        prompter.answer(.accept)
        #expect(owner.answers.isEmpty)
        prompter.answer(.passkey(999_999))
        #expect(owner.answers == [.passkey(999_999)])
        owner.ask(.enterPasskeyOnBoth)
        prompter.answer(.passkey(1_000_000))
        prompter.answer(.passkey(5))
        #expect(owner.answers == [.passkey(999_999), .passkey(5)])
        owner.answers.removeLast()
        owner.ask(.showPasskey(7))
        prompter.answer(.accept)
        #expect(owner.answers.count == 1)
        #expect(prompter.closed.isEmpty)
        owner.desk.closePrompt(owner.peer())
        #expect(prompter.closed == [prompter.shown[2].number])
        prompter.answer(.refuse)
        #expect(owner.answers.count == 1)
        owner.ask(.showPasskey(8))
        prompter.answer(.refuse)
        #expect(owner.answers.last == .refuse)
    }

    @Test("a prompter that leaves passes its question to the next one, under another number")
    func thePrompterLeaves() throws {
        let owner = try DeskOwner("pair yes")
        let (old, new) = (try #require(Prompter(owner.desk)), try #require(Prompter(owner.desk)))
        owner.ask()
        let number = new.shown[0].number
        new.leave()
        #expect(old.shown.count == 1 && old.shown[0].number != number && owner.answers.isEmpty)
        // These answers are too late.
        new.answer(.accept, to: old.shown[0].number)
        new.answer(.accept, to: number)
        old.answer(.accept, to: number)
        #expect(owner.answers.isEmpty)
        // No prompter is left, so the policy decides.
        old.leave()
        #expect(owner.answers == [.accept])
        old.answer(.refuse)
        #expect(owner.answers == [.accept])
    }

    /// The answers to a prompt beside a prompter: nil if the prompter is asked.
    @Test(
        "AB-A14: a prompter replaces neither a refusal of the policy nor a code, and the log and the prompter hear of it",
        arguments: [
            ("pair no", PairingPrompt.confirmPairing, .refuse), ("pair peer=Belt no", .compare(1), .refuse),
            ("pair no", .enterPasskey, .refuse), ("pair no", .confirmReplacement, .refuse),
            ("pair peer=Belt code 123456", .enterPasskey, .passkey(123_456)),
            ("pair peer=Belt code 123456", .confirmPairing, nil), ("pair peer=Belt code 123456", .compare(1), nil),
            ("pair yes", .confirmPairing, nil), ("pair yes\npair no", .enterPasskey, nil),
            ("pair peer=Other no", .compare(1), nil), ("pair peer=Other code 123456", .enterPasskey, nil),
            ("", .confirmPairing, nil), ("app name=* no", .compare(1), nil),
        ] as [(String, PairingPrompt, PairingAnswer?)]
    )
    func thePolicyStands(policy: String, prompt: PairingPrompt, answer: PairingAnswer?) throws {
        let owner = try DeskOwner(policy)
        var told: [SystemNotice] = []
        owner.device.system.observers.add(.notices) {
            if case .noticed(let notice) = $0.content { told.append(notice) }
        }
        let prompter = try #require(Prompter(owner.desk))
        #expect(told.contains(.promptsGoToTool(rules: 1)) == policy.contains("yes"))
        told = []
        owner.ask(prompt)
        #expect(owner.answers == (answer.map { [$0] } ?? []))
        #expect(prompter.shown.isEmpty == (answer != nil))
        let expected = answer.map { [SystemNotice.decidedByPolicy(peer: "\"Belt\"", isRefused: $0 == .refuse)] } ?? []
        #expect(told == expected)
        #expect(prompter.notices.suffix(told.count) == told.map(\.description)[...])
        prompter.leave()
        #expect(told.contains(.promptsGoToPolicy) == policy.contains("yes"))
    }

    @Test("AB-A14: only the first of several prompters takes the place of the policy, and only the last one returns it")
    func severalPrompters() throws {
        let owner = try DeskOwner("pair yes\npair peer=x yes")
        var told: [SystemNotice] = []
        owner.device.system.observers.add(.notices) {
            if case .noticed(let notice) = $0.content { told.append(notice) }
        }
        let (old, new) = (try #require(Prompter(owner.desk)), try #require(Prompter(owner.desk)))
        #expect(told == [.promptsGoToTool(rules: 2)])
        #expect(old.notices == told.map(\.description))
        old.leave()
        #expect(told.count == 1)
        new.leave()
        #expect(told == [.promptsGoToTool(rules: 2), .promptsGoToPolicy])
    }

    @Test("the log names the agent when an app waits for permission and no tool asks the user")
    func waitingForPermission() throws {
        let owner = try DeskOwner("app name=* ask")
        var told: [SystemNotice] = []
        owner.device.system.observers.add(.notices) {
            if case .noticed(let notice) = $0.content { told.append(notice) }
        }
        let question = AppQuestion(AppIdentity(name: "tracker"))
        owner.desk.askPermission(question) { _ in }
        #expect(told == [.permissionWaits(app: "tracker")])
        #expect(told.first?.description.contains("start `harald agent`") == true)
        let prompter = try #require(Prompter(owner.desk))
        #expect(prompter.shown.map(\.question) == [.permission(question)])
        owner.desk.askPermission(question) { _ in }
        #expect(told.count == 1)
    }

    @Test("AB-A14: if the last prompter leaves and no rule matches, the answer is no")
    func leavingOfTheLastPrompterRefuses() throws {
        let owner = try DeskOwner()
        let prompter = try #require(Prompter(owner.desk))
        owner.ask()
        prompter.leave()
        #expect(owner.answers == [.refuse])
    }

    @Test("a new prompter does not take over a question that is being shown")
    func aPrompterComes() throws {
        let owner = try DeskOwner()
        let first = try #require(Prompter(owner.desk))
        owner.ask()
        let second = try #require(Prompter(owner.desk))
        #expect(second.shown.isEmpty)
        first.answer(.accept)
        #expect(owner.answers == [.accept])
    }

    @Test("a prompt for a link replaces the previous one, whose answer is then too late")
    func anotherPromptOfTheLink() throws {
        let owner = try DeskOwner()
        let prompter = try #require(Prompter(owner.desk))
        owner.ask(.confirmPairing)
        owner.ask(.compare(1))
        #expect(prompter.closed == [prompter.shown[0].number])
        prompter.answer(.accept, to: prompter.shown[0].number)
        #expect(owner.answers.isEmpty)
    }

    @Test("AB-G05: a flood of questions and prompters is bounded, and excess questions are answered no")
    func aFloodIsBounded() throws {
        let owner = try DeskOwner()
        let prompter = try #require(Prompter(owner.desk))
        for link in 1...UInt64(PromptRouting.maximumQuestions + 10) { owner.ask(link: link) }
        #expect(prompter.shown.count == PromptRouting.maximumQuestions)
        #expect(owner.answers == [PairingAnswer](repeating: .refuse, count: 10))
        prompter.answer(.accept)
        owner.ask(link: 1_000)
        #expect(prompter.shown.count == PromptRouting.maximumQuestions + 1)
        var others: [Prompter] = []
        while let other = Prompter(owner.desk), others.count < 100 { others.append(other) }
        #expect(others.count == PromptRouting.maximumPrompters - 1)
        others.removeLast().leave()
        #expect(Prompter(owner.desk) != nil)
    }

    @Test("the latest prompter gets notices, which need no answer")
    func notices() throws {
        let owner = try DeskOwner()
        owner.device.system.observers.report(.poweredOff(app: "a"))
        let prompter = try #require(Prompter(owner.desk))
        owner.device.system.observers.report(.poweredOff(app: "b"))
        #expect(prompter.notices == [SystemNotice.poweredOff(app: "b").description])
    }

    @Test(
        "behaviour 1.18: if the policy says so, a permission question is asked as soon as there is a prompter"
    )
    func permissions() throws {
        let owner = try DeskOwner("app name=test ask\napp name=com.example.Heart no")
        let device = owner.device
        let (asked, refused) = (device.manager(.central), device.manager(.central, of: device.app("Heart")))
        let allowed = device.manager(.central, of: device.app("Other"))
        owner.world.run(.seconds(1))
        #expect(asked.take().isEmpty)
        #expect(refused.take() == [.stateChanged(.unauthorized)])
        #expect(allowed.take() == [.stateChanged(.poweredOn)])
        // A prompter that leaves without answering leaves the question pending.
        let first = try #require(Prompter(owner.desk))
        #expect(first.shown.map(\.question) == [.permission(AppQuestion(AppIdentity(name: "test")))])
        first.answer(.accept)
        first.leave()
        let second = try #require(Prompter(owner.desk))
        second.answer(.allow)
        owner.world.run(.seconds(1))
        #expect(asked.take() == [.stateChanged(.poweredOn)])
        // The user's answer takes precedence over the file.
        second.answer(.deny)
        #expect(device.system.apps.permission(of: AppIdentity(name: "test")) == .allowedAlways)
    }

    @Test("behaviour 1.18: a changed policy applies to existing apps")
    func thePolicyChanges() throws {
        let owner = try DeskOwner()
        let manager = owner.device.manager(.central)
        owner.world.run(.seconds(1))
        #expect(manager.take() == [.stateChanged(.poweredOn)])
        owner.desk.policy = try PolicyFile(parsing: Array("app name=* no".utf8))
        owner.world.run(.seconds(1))
        #expect(manager.take() == [.stateChanged(.unauthorized)])
    }

    @Test("a tool receives and answers questions in its conversation, and leaves with it")
    func overAConversation() throws {
        let owner = try DeskOwner()
        var replies: [ToolReply] = []
        let tool = ToolConversation(system: owner.device.system, rights: .answer) { replies.append($0) }
        tool.handle(.ask(number: 5, .prompts))
        #expect(replies.isEmpty)
        owner.ask()
        guard case .prompt(let number, .pairing)? = replies.last else { return #expect(Bool(false), "\(replies)") }
        tool.handle(.answer(number: number, .accept))
        #expect(owner.answers == [.accept])
        tool.handle(.ask(number: 6, .prompts))
        guard case .answer(6, .failure)? = replies.last else { return #expect(Bool(false), "\(replies)") }
        owner.ask()
        tool.close()
        #expect(owner.answers == [.accept, .refuse])
        #expect(owner.device.system.peers.deviceSecurity.prompter == nil)
    }
}
