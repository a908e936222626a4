import BluetoothTypes
import SMP
import Security
import ServiceMessages
import Testing

@testable import Administration
@testable import BluetoothService

/// The conditions under which a prompt desk receives prompts.
@Suite struct PromptDeskPresenceTests {
    /// Another prompter of the system, as a test or a simulation has one.
    private final class Person: PairingPrompter {
        func prompt(_ prompt: PairingPrompt, peer: PromptedPeer, answer: @escaping (PairingAnswer) -> Void) {}
        func closePrompt(_ peer: PromptedPeer) {}
    }

    private let world = ServiceWorld()

    @Test("a desk that nobody sits at leaves another prompter of the system in its place")
    func anotherPrompter() throws {
        let system = world.device("Phone").system
        let desk = PromptDesk(system)
        let person = Person()
        system.peers.deviceSecurity.prompter = person
        desk.policy = try PolicyFile(parsing: Array("prompters 7".utf8))
        #expect(system.peers.deviceSecurity.prompter === person)
        let prompter = try #require(desk.add { _ in })
        #expect(system.peers.deviceSecurity.prompter === person)
        desk.open(prompter)
        #expect(system.peers.deviceSecurity.prompter === desk)
    }

    @Test("AB-G05: a prompter that says twice that it is ready takes one place, and one that is gone takes none")
    func readyTwice() throws {
        let system = world.device("Phone").system
        let desk = PromptDesk(system)
        let prompter = try #require(desk.add { _ in })
        for _ in 0..<2 * PromptRouting.maximumPrompters { desk.open(prompter) }
        var shown = 0
        let other = try #require(desk.add { if case .prompt = $0 { shown += 1 } })
        desk.open(other)
        let peer = PromptedPeer(link: 1, address: .init(0xC0FF_EE00_0001, kind: .randomDevice))
        desk.prompt(.confirmPairing, peer: peer) { _ in }
        #expect(shown == 1)
        desk.remove(other)
        desk.remove(prompter)
        #expect(system.peers.deviceSecurity.prompter == nil)
        desk.open(prompter)
        desk.open(other)
        #expect(system.peers.deviceSecurity.prompter == nil)
    }

    @Test("a question of one link is over with that link, and not with another one")
    func questionsOfLinks() throws {
        let system = world.device("Phone").system
        let desk = PromptDesk(system)
        var (numbers, closed): ([UInt32], [UInt32]) = ([], [])
        let prompter = try #require(
            desk.add {
                if case .prompt(let number, _) = $0 { numbers.append(number) }
                if case .promptClosed(let number) = $0 { closed.append(number) }
            }
        )
        desk.open(prompter)
        func peer(_ link: UInt64) -> PromptedPeer {
            PromptedPeer(link: link, address: .init(0xC0FF_EE00_0001, kind: .randomDevice))
        }
        var answers: [PairingAnswer] = []
        for link in 1...3 as ClosedRange<UInt64> {
            desk.prompt(.confirmPairing, peer: peer(link)) { answers.append($0) }
        }
        #expect(numbers == [1, 2, 3])
        desk.closePrompt(peer(2))
        desk.closePrompt(peer(9))
        #expect(closed == [2])
        #expect(desk.openQuestions == 2)
        desk.answer(2, .accept, by: prompter)
        desk.answer(1, .accept, by: prompter)
        desk.answer(3, .refuse, by: prompter)
        #expect(answers == [.accept, .refuse])
        #expect(system.peers.deviceSecurity.prompter === desk)
        #expect(desk.openQuestions == 0)
    }
}
