import AppAdvice
import BluetoothTypes
import Foundation
import SampleMessages
import ServiceMessages
import TestBasics
import Testing

@testable import Administration
@testable import BluetoothService
@testable import BluetoothSimulation
@testable import ServiceProcess

/// The advice that the process of an app gets about itself, with `HARALD_ADVICE`, over in-memory connections.
@Suite struct OwnAdviceTests {
    private let world = ClientWorld(admitsOtherUsers: true)

    init() {
        world.with { system in system.adviceSource = { AdviceStream() } }
    }

    private func tool(_ process: Int32, user: UInt32 = ClientWorld.owner) throws -> RawTool {
        let tool = RawTool(world, user: user, process: process)
        #expect(try tool.greeting() == .welcome(Welcome()))
        return tool
    }

    /// An app that scans without naming a service (12.3).
    private func app(_ name: String, _ process: Int32, user: UInt32 = ClientWorld.owner) -> RawClient {
        let app = world.connect(user: user, process: process)
        app.greet(name)
        app.send(.openManager(ManagerID(1), .central, ManagerOptions()))
        app.send(.request(ManagerID(1), .startScan(ScanRequest())))
        return app
    }

    /// The names of the apps with advice, two seconds later.
    private func advised(_ tool: RawTool) throws -> [String] {
        world.world.run(for: .seconds(2))
        return try tool.take().compactMap { reply in
            guard case .event(number: 7, let text) = reply else { return nil }
            let advice = try JSONDecoder().decode(AdviceStatus.self, from: Data(text.utf8))
            #expect(advice.rule == "12.3")
            return "\(advice.app) \(advice.owner)"
        }
    }

    @Test("a process is advised about itself without any right, whether its app or its question comes first")
    func itself() throws {
        let owner = ClientWorld.owner
        for (user, process, toolIsFirst) in [
            (1_001, 11, true), (1_001, 12, false), (owner, 13, true), (owner, 14, false),
        ] {
            let early = toolIsFirst ? try tool(Int32(process), user: user) : nil
            early?.ask(7, .ownAdvice)
            let own = app("own", Int32(process), user: user)
            let tool = try early ?? tool(Int32(process), user: user)
            if early == nil { tool.ask(7, .ownAdvice) }
            // A manager that existed before the question is not followed.
            if early == nil {
                own.send(.openManager(ManagerID(2), .central, ManagerOptions()))
                own.send(.request(ManagerID(2), .startScan(ScanRequest())))
            }
            let others = [app("other", 20, user: user), app("own", 21, user: 1_002)]
            #expect(try advised(tool) == ["own \(user)"])
            for each in others + [own] { each.die() }
            tool.die()
        }
    }

    @Test("AB-G07: a process that is advised about itself has lost the right to answer prompts, and its other rights")
    func noAnswers() throws {
        let tool = try tool(11)
        tool.ask(7, .ownAdvice)
        let own = app("own", 11)
        for question in [ToolQuestion.prompts, .bonds, .packets, .advice, .app(.resetPermission, name: "own")] {
            tool.ask(1, question)
            guard case .answer(number: 1, .failure(let error))? = try tool.take().last else {
                Issue.record("\(question) is answered")
                continue
            }
            #expect(error.reason?.contains("not permitted") == true)
        }
        // It did ask, so a second app in this process changes nothing.
        let second = app("second", 11)
        #expect(try advised(tool).sorted() == ["own 1000", "second 1000"])
        withExtendedLifetime((own, second)) {}
    }

    @Test(
        "AB-G07: a process that has asked as a tool with the right to answer is no app",
        arguments: [
            ToolQuestion.prompts, .monitor(kinds: 1), .packets, .status,
        ]
    )
    func toolFirst(_ question: ToolQuestion) throws {
        let tool = try tool(11)
        tool.ask(7, .ownAdvice)
        tool.ask(1, question)
        let late = world.connect(process: 11)
        late.send(Opening.app(Hello(AppIdentity(name: "late"))).encoded())
        #expect(late.goodbye()?.contains("answers prompts") == true)
        withExtendedLifetime(tool) {}
    }

    @Test("a process that the service cannot see is told so")
    func invisibleProcess() throws {
        let tool = try tool(0)
        tool.ask(7, .ownAdvice)
        guard case .answer(number: 7, .failure(let error))? = try tool.take().last else {
            return recordIssue("it is answered")
        }
        #expect(error.reason?.contains("cannot see this process") == true)
    }

    @Test("AB-G05: a process with many apps gets advice about some of them")
    func manyApps() throws {
        let tool = try tool(11)
        tool.ask(7, .ownAdvice)
        let apps = (0..<10).map { app("app\($0)", 11) }
        #expect(try advised(tool).count == ToolConversation.maximumOwnApps)
        withExtendedLifetime(apps) {}
    }
}
