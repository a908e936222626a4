import BluetoothTypes
import EventLoops
import Foundation
import ServiceMessages
import Synchronization
import TestBasics
import Testing

@testable import BluetoothService
@testable import BluetoothSimulation
@testable import ServiceProcess

/// The tool's side, over in-memory connections and in virtual time.
@Suite struct ToolClientTests {
    /// Connects to a service, or fails without one.
    private final class TestDialer: Dialer {
        let path: String
        let clients: LoopBound<ServiceClients>?
        let loop: any EventLoop
        var line: MemoryLine?

        init(_ path: String, to clients: LoopBound<ServiceClients>?, loop: any EventLoop) {
            (self.path, self.clients, self.loop) = (path, clients, loop)
        }

        func dial(_ completion: @escaping (Result<any MessageLine, MessageLineError>) -> Void) {
            let (near, far) = MemoryLine.pair(loop: loop)
            guard path != "/silent" else {
                line = far
                return loop.execute { completion(.success(near)) }
            }
            guard let clients else {
                return loop.execute { [path] in completion(.failure(.unreachable(path: path, reason: "nobody"))) }
            }
            clients.value.accept(far, from: Caller(process: 1, user: ClientWorld.owner, group: 0))
            line = far
            loop.execute { completion(.success(near)) }
        }
    }

    /// A tool, and the replies that it received.
    private final class WatchedTool: Sendable {
        let world = ClientWorld()
        let client: LoopBound<ToolClient>
        let dialers: LoopBound<[TestDialer]>
        let isOpen = Mutex(false)
        let failure = Mutex<ToolClient.Failure?>(nil)
        let answers = Mutex<[Result<String, ServiceError>]>([])
        let lines = Mutex<[String]>([])
        let prompts = Mutex<[UInt32]>([])

        init(_ paths: [String], listensAt place: String? = nil) {
            let (loop, clients) = (world.world.loop, world.clients)
            dialers = loop.make { paths.map { TestDialer($0, to: $0 == place ? clients : nil, loop: loop) } }
            let dialers = dialers
            client = loop.make { ToolClient(dialers.value, loop: loop) }
            client.with { [weak self] client in
                client.onEnd = { failure in self?.failure.withLock { $0 = failure } }
                client.onPrompt = { number, _ in self?.prompts.withLock { $0.append(number) } }
                client.open { self?.isOpen.withLock { $0 = true } }
            }
            run()
        }

        func run(_ time: Duration = .milliseconds(10)) { world.world.run(for: time) }

        func ask(_ question: ToolQuestion) -> UInt32 {
            let number = client.with { [weak self] client in
                client.ask(question, onLine: { line in self?.lines.withLock { $0.append(line) } }) { answer in
                    self?.answers.withLock { $0.append(answer) }
                }
            }
            run()
            return number
        }
    }

    @Test("a tool uses the first available service, and gets replies and streams")
    func aToolTakesTheFirstService() {
        let tool = WatchedTool(["/user", "/machine"], listensAt: "/machine")
        #expect(tool.isOpen.withLock { $0 })
        #expect(tool.failure.withLock { $0 } == nil)
        _ = tool.ask(.status)
        #expect(tool.answers.withLock { $0.count } == 1)
        let stream = tool.ask(.monitor(kinds: Observation.Kinds.state.rawValue))
        tool.world.phone.setPower(false)
        tool.run(.seconds(1))
        #expect(tool.lines.withLock { $0.count } == 1)
        tool.client.with { $0.stop(stream) }
        tool.run()
        #expect(tool.answers.withLock { $0.last } == .success("{\"lost\":0}"))
        tool.world.phone.setPower(true)
        tool.run(.seconds(1))
        #expect(tool.lines.withLock { $0.count } == 1)
    }

    @Test("without a service, the user is told which places were tried, and what to do")
    func missingServicesAreReportedWithAdvice() {
        let tool = WatchedTool(["/user", "/machine"])
        let text = tool.failure.withLock { $0 }.map { "\($0)" } ?? ""
        #expect(!tool.isOpen.withLock { $0 })
        #expect(text.contains("/user") && text.contains("/machine") && text.contains("`harald service`"), "\(text)")
        #expect(WatchedTool([]).failure.withLock { $0 }.map { "\($0)".contains("--service") } == true)
    }

    @Test("the wait for a service that sends nothing is bounded")
    func aServiceThatSaysNothing() {
        let tool = WatchedTool(["/silent"])
        tool.run(.milliseconds(9_980))
        #expect(tool.failure.withLock { $0 } == nil)
        tool.run(.milliseconds(20))
        guard case .refused(let reason)? = tool.failure.withLock({ $0 }) else { return recordIssue("it still waits") }
        #expect(reason.contains("did not answer"))
    }

    @Test("an invalid reply ends the conversation of a tool, and a lost service is reported")
    func invalidRepliesEndTheConversation() {
        for octets in [nil, [9], [0, 1]] as [[UInt8]?] {
            let tool = WatchedTool(["/service"], listensAt: "/service")
            tool.dialers.with { dialers in
                octets.map { dialers[0].line?.send(PacketBuffer($0)) } ?? dialers[0].line?.close()
            }
            tool.run()
            guard case .lost? = tool.failure.withLock({ $0 }) else {
                Issue.record("\(String(describing: octets))")
                continue
            }
        }
    }

    @Test("a service that shuts down notifies its tools")
    func aServiceThatEnds() {
        let tool = WatchedTool(["/service"], listensAt: "/service")
        tool.world.clients.with { $0.close() }
        tool.run()
        guard case .ended(let reason)? = tool.failure.withLock({ $0 }) else {
            return recordIssue("\(String(describing: tool.failure.withLock { $0 }))")
        }
        #expect(reason.contains("shutting down"))
    }
}
