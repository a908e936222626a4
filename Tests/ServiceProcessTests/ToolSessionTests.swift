import BluetoothTypes
import EventLoops
import Foundation
import ServiceMessages
import TestBasics
import Testing

@testable import Administration
@testable import BluetoothService
@testable import BluetoothSimulation
@testable import ServiceProcess

/// Tools at the service, over in-memory connections and in virtual time: what they may ask for, and what they may do to
/// it (AB-G05).
@Suite struct ToolSessionTests {
    private func desk(_ world: ClientWorld, _ policy: String) throws -> LoopBound<PromptDesk> {
        let file = try PolicyFile(parsing: Array(policy.utf8))
        let loop = world.world.loop
        return world.phone.withSystem { LoopBound(PromptDesk($0, policy: file), loop: loop) }
    }

    private func refusals(_ replies: [ToolReply]) -> [String] {
        replies.compactMap { if case .answer(_, .failure(let error)) = $0 { error.reason } else { nil } }
    }

    @Test func aToolOfTheOwnerAsks() throws {
        let world = ClientWorld()
        let tool = RawTool(world)
        #expect(try tool.greeting() == .welcome(Welcome()))
        tool.ask(7, .status)
        let replies = try tool.take()
        guard case .answer(7, .success(let text))? = replies.first, replies.count == 1 else {
            return recordIssue("\(replies)")
        }
        #expect(try JSONDecoder().decode(SystemStatus.self, from: Data(text.utf8)).state == "poweredOn")
    }

    @Test(
        "AB-G05: a tool of another user is refused, may look if others are admitted, and may answer if the policy allows it"
    )
    func aToolOfAnotherUserIsLimited() throws {
        let closed = ClientWorld()
        let stranger = RawTool(closed, user: 1_001)
        guard case .goodbye(let error)? = try stranger.greeting() else { return recordIssue("it is let in") }
        #expect(error.reason?.contains("user 1001") == true)
        #expect(stranger.isClosed)

        let open = ClientWorld(admitsOtherUsers: true)
        let openDesk = try desk(open, "")
        let looker = RawTool(open, user: 1_001)
        _ = try looker.greeting()
        looker.ask(1, .devices)
        #expect(refusals(try looker.take()).isEmpty)
        let acts: [ToolQuestion] = [
            .forgetBond(UUID()), .app(.forceQuit, name: "app"), .accessory(UUID(), .remove, name: "app"),
        ]
        for question in acts + [.bonds, .prompts] {
            looker.ask(2, question)
            #expect(refusals(try looker.take()).count == 1, "\(question)")
        }

        let desk = try desk(closed, "prompters 1001")
        let prompter = RawTool(closed, user: 1_001)
        #expect(try prompter.greeting() == .welcome(Welcome()))
        prompter.ask(1, .prompts)
        #expect(try prompter.take().isEmpty)
        prompter.ask(2, .app(.forceQuit, name: "app"))
        #expect(refusals(try prompter.take()).count == 1)
        // That does not admit an app of the same user.
        let app = closed.connect(user: 1_001)
        app.send(Opening.app(Hello(AppIdentity(name: "app"))).encoded())
        #expect(app.goodbye() != nil)
        withExtendedLifetime((desk, openDesk)) {}
    }

    @Test("AB-G07: a tool of a user whose apps may not use Bluetooth sees nothing of peers, like an app of that user")
    func aToolOfABarredUser() throws {
        let world = ClientWorld(admitsOtherUsers: true)
        let policy = "app name=harald user=1002 yes\napp name=* user=1001 no\napp name=* ask\nprompters 1003"
        let desk = try desk(world, policy)
        let owner = ClientWorld.owner
        let users: [(UInt32, Bool)] = [(1_001, false), (1_002, true), (1_003, false), (owner, true), (0, true)]
        for (user, mayLook) in users {
            let tool = RawTool(world, user: user)
            _ = try tool.greeting()
            for (number, question) in [ToolQuestion.devices, .status, .apps, .monitor(kinds: .max)].enumerated() {
                tool.ask(UInt32(number), question)
                let refused = refusals(try tool.take())
                #expect(refused.isEmpty == mayLook, "\(user) \(question)")
                #expect(refused.allSatisfy { $0.contains("app name=harald") })
            }
            tool.ask(9, .prompts)
            #expect(refusals(try tool.take()).isEmpty == [1_003, owner, 0].contains(user), "\(user)")
            tool.die()
        }
        withExtendedLifetime(desk) {}
    }

    @Test("AB-G07: an app's process cannot answer for the user, and a process that answers is no app")
    func appsCannotAnswerForTheUser() throws {
        let world = ClientWorld()
        let desk = try desk(world, "app name=* ask")
        let app = world.connect(process: 70)
        app.greet("app")
        app.send(.openManager(ManagerID(1), .central, ManagerOptions()))
        let own = RawTool(world, process: 70)
        _ = try own.greeting()
        for question in [ToolQuestion.prompts, .app(.resetPermission, name: "app")] {
            own.ask(1, question)
            #expect(refusals(try own.take()).count == 1, "\(question)")
        }
        let agent = RawTool(world, process: 71)
        _ = try agent.greeting()
        agent.ask(1, .prompts)
        guard case .prompt(let number, .permission(let question))? = try agent.take().first else {
            return recordIssue("nobody is asked")
        }
        #expect(question == AppQuestion(AppIdentity(name: "app", owner: ClientWorld.owner)))
        let late = world.connect(process: 71)
        late.send(Opening.app(Hello(AppIdentity(name: "late"))).encoded())
        #expect(late.goodbye()?.contains("answers prompts") == true)
        #expect(late.isClosed)
        agent.send(ToolMessage.answer(number: number, .allow).encoded())
        #expect(app.events() == [.stateChanged(.poweredOn)])
        // A process that cannot be identified is not one of them.
        _ = try RawTool(world, process: 0).greeting()
        world.connect(process: 0).greet("other")
        #expect(world.with { $0.apps.running.count } == 2)
        withExtendedLifetime(desk) {}
    }

    @Test(
        "AB-G05: an invalid message from a tool ends only its conversation, with a reply that tools can read"
    )
    func garbageEndsTheConversation() throws {
        let world = ClientWorld()
        let other = RawTool(world)
        _ = try other.greeting()
        let whole = ToolMessage.ask(number: 1, .app(.launch, name: "app")).encoded()
        let garbage = [[], [9], [0, 1], Array(whole.bytes.dropLast()), whole.bytes + [0]] as [[UInt8]]
        for octets in garbage {
            let tool = RawTool(world)
            _ = try tool.greeting()
            tool.send(PacketBuffer(octets))
            guard case .goodbye(let error)? = try tool.take().last else {
                Issue.record("\(octets)")
                continue
            }
            #expect(error.reason?.contains("cannot be decoded") == true)
            #expect(tool.isClosed)
        }
        other.ask(1, .status)
        #expect(try other.take().count == 1 && !other.isClosed)
    }

    @Test("AB-G05: a tool of another version is told the service's version too")
    func anotherVersionIsTold() throws {
        let tool = RawTool(ClientWorld(), version: 99)
        guard case .goodbye(let error)? = try tool.greeting() else { return recordIssue("it is let in") }
        #expect(error.reason?.contains("version 99") == true)
    }

    @Test(
        "AB-G05: a tool that does not read misses events, which are counted, and its questions are not read meanwhile"
    )
    func aToolThatDoesNotRead() throws {
        let world = ClientWorld()
        let tool = RawTool(world)
        _ = try tool.greeting()
        tool.ask(1, .monitor(kinds: Observation.Kinds.state.rawValue))
        tool.setRoom(false)
        #expect(!tool.isRead)
        for isOn in [false, true, false, true] {
            world.phone.setPower(isOn)
            world.world.run(for: .seconds(1))
        }
        tool.ask(2, .status)
        #expect(try tool.take().isEmpty)
        tool.setRoom(true)
        let replies = try tool.take()
        let lines = replies.compactMap { if case .event(1, let text) = $0 { text } else { nil } }
        #expect(lines.count == 1 && lines[0].contains("\"kind\":\"lost\""), "\(replies)")
        #expect(replies.contains { if case .answer(2, .success) = $0 { true } else { false } } && replies.count == 2)
        world.phone.setPower(false)
        world.world.run(for: .seconds(1))
        #expect(try tool.take().count >= 1)
    }

    @Test("AB-G05: the streams of a tool are bounded, and freed when its process ends")
    func streamsAreGivenBack() throws {
        let world = ClientWorld()
        for _ in 0..<20 {
            let tool = RawTool(world)
            _ = try tool.greeting()
            for number in 0...UInt32(ToolConversation.maximumStreams) {
                tool.ask(number, .monitor(kinds: Observation.Kinds.state.rawValue))
            }
            #expect(refusals(try tool.take()).count == 1)
            tool.die()
        }
        #expect(world.clients.with { $0.callers.isEmpty })
    }

    @Test func theEndOfTheServiceIsTold() throws {
        let world = ClientWorld()
        let tool = RawTool(world)
        _ = try tool.greeting()
        world.clients.with { $0.close() }
        world.world.run(for: .milliseconds(1))
        guard case .goodbye(let error)? = try tool.take().last else { return recordIssue("nothing was said") }
        #expect(error.reason?.contains("service is shutting down") == true)
        #expect(tool.isClosed)
    }
}
