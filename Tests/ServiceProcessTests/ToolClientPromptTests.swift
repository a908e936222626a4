import BluetoothTypes
import EventLoops
import ServiceMessages
import Testing

@testable import ServiceProcess

/// Messages of the service other than answers, and the tool's responses. The service is the test.
@Suite struct ToolClientPromptTests {
    /// Connects to the test, or to nothing; says what the test wants of it.
    private final class Place: Dialer {
        let line: MemoryLine?
        private let far: MemoryLine?
        private let loop: VirtualEventLoop
        /// Whether the connection is made only when the test says so.
        var isSlow = false
        private var pending: (() -> Void)?
        private(set) var heard: [PacketBuffer] = []

        init(_ loop: VirtualEventLoop, isThere: Bool = true) {
            self.loop = loop
            (line, far) = isThere ? MemoryLine.pair(loop: loop) : (nil, nil)
            far?.onReceive = { [weak self] in self?.heard.append($0) }
        }

        func dial(_ completion: @escaping (Result<any MessageLine, MessageLineError>) -> Void) {
            let line = line
            let answer = { completion(line.map { .success($0) } ?? .failure(.unreachable(path: "/x", reason: "none"))) }
            if isSlow { pending = answer } else { loop.execute(answer) }
        }

        func answer() { pending?() }
        func say(_ message: ServiceMessage) { send(message.encoded()) }
        func say(_ reply: ToolReply) { send(reply.encoded()) }

        func send(_ octets: PacketBuffer) {
            far?.send(octets)
            loop.run(for: .zero)
        }

        func lose() {
            far?.lost(.closedByPeer)
            loop.run(for: .zero)
        }

        /// The messages that the tool has sent since the last call.
        func take() -> [PacketBuffer] {
            defer { heard = [] }
            return heard
        }
    }

    private let loop = VirtualEventLoop()

    /// A tool that was welcomed.
    private func open(_ place: Place) -> ToolClient {
        let client = ToolClient([place], loop: loop)
        var count = 0
        client.open { count += 1 }
        loop.run(for: .zero)
        place.say(.welcome(Welcome()))
        #expect(count == 1)
        #expect(place.take() == [Opening.tool(version: Hello.version).encoded()])
        return client
    }

    @Test("a question for the person is shown with its number until it is closed, and the answer carries that number")
    func prompts() {
        let place = Place(loop)
        let client = open(place)
        var (shown, closed): ([(UInt32, PersonQuestion)], [UInt32]) = ([], [])
        client.onPrompt = { shown.append(($0, $1)) }
        client.onPromptClosed = { closed.append($0) }
        place.say(.prompt(number: 7, .notice("a")))
        #expect(shown.map(\.0) == [7])
        #expect(shown.first?.1 == .notice("a"))
        #expect(closed.isEmpty)
        client.answer(7, .accept)
        loop.run(for: .zero)
        place.say(.promptClosed(number: 7))
        #expect(closed == [7])
        #expect(place.heard.last == ToolMessage.answer(number: 7, .accept).encoded())
    }

    @Test("each answer is that to its question, once, and lines of a stream come before its end")
    func answers() {
        let place = Place(loop)
        let client = open(place)
        var heard: [String] = []
        let numbers = ["a", "b"].map { name in
            client.ask(.status, onLine: { heard.append("\(name) \($0)") }) { heard.append("\(name): \($0)") }
        }
        #expect(numbers == [1, 2])
        client.stop(2)
        loop.run(for: .zero)
        #expect(place.heard.suffix(1) == [ToolMessage.stop(number: 2).encoded()])
        place.say(.event(number: 2, "x"))
        place.say(.answer(number: 2, .success("y")))
        place.say(.answer(number: 2, .success("z")))
        place.say(.event(number: 2, "late"))
        place.say(.answer(number: 1, .success("w")))
        #expect(heard == ["b x", "b: success(\"y\")", "a: success(\"w\")"])
    }

    @Test("a service that does not welcome a tool is not used, and the tool says why")
    func withoutAWelcome() {
        var welcome = Welcome()
        welcome.version += 1
        for (message, text) in [
            (ServiceMessage.welcome(welcome), "it uses protocol version"),
            (.goodbye(ServiceError(.outOfSpace, reason: "full")), "full"),
            (.goodbye(ServiceError(.outOfSpace)), "it gave no reason"),
            (.event(ManagerID(1), .stateChanged(.poweredOn)), "it is for an app"),
        ] {
            let place = Place(loop)
            let client = ToolClient([place], loop: loop)
            var (failures, isOpen): ([String], Bool) = ([], false)
            client.onEnd = { failures.append("\($0)") }
            client.open { isOpen = true }
            loop.run(for: .zero)
            place.say(message)
            #expect(failures.count == 1 && failures[0].contains(text) && !isOpen, "\(failures)")
            #expect(place.line?.isOpen == false)
            loop.run(for: .seconds(20))
            #expect(failures.count == 1)
        }
    }

    @Test("a tool that was welcomed waits for as long as its service takes, and asks nothing of one that is gone")
    func theEnd() {
        let place = Place(loop)
        let client = open(place)
        var failures: [ToolClient.Failure] = []
        client.onEnd = { failures.append($0) }
        loop.run(for: .seconds(60))
        #expect(failures.isEmpty)
        client.ask(.status) { _ in Issue.record("the service is gone, and has answered") }
        place.lose()
        #expect(failures == [.lost(.closedByPeer)])
        _ = place.take()
        client.ask(.status) { _ in Issue.record("there is no service, and it has answered") }
        place.say(.answer(number: 1, .success("")))
        #expect(place.take().isEmpty)
        #expect(failures.count == 1)
    }

    @Test("a tool that is closed hears nothing more, wherever it is on its way")
    func closing() {
        for moment in 0..<3 {
            let place = Place(loop)
            place.isSlow = moment == 0
            let client = ToolClient([place], loop: loop)
            client.onEnd = { Issue.record("\($0)") }
            client.onPrompt = { _, _ in Issue.record("a prompt") }
            var isOpen = false
            client.open { isOpen = true }
            loop.run(for: .zero)
            if moment == 2 { place.say(.welcome(Welcome())) }
            client.close()
            loop.run(for: .zero)
            if moment == 0 { place.answer() }
            place.say(.welcome(Welcome()))
            place.say(.prompt(number: 1, .notice("a")))
            place.lose()
            loop.run(for: .seconds(20))
            #expect(isOpen == (moment == 2) && place.line?.isOpen == false, "\(moment)")
        }
    }

    @Test("places are tried in their order, each once, and a tool is opened once")
    func places() {
        let places = [Place(loop, isThere: false), Place(loop), Place(loop)]
        let client = ToolClient(places, loop: loop)
        var count = 0
        client.open { count += 1 }
        client.open { count += 10 }
        loop.run(for: .zero)
        #expect(places.map { $0.heard.count } == [0, 1, 0])
        places[1].say(.welcome(Welcome()))
        places[1].say(.promptClosed(number: 1))
        #expect(count == 1)
        #expect(places.map { $0.heard.count } == [0, 1, 0])
        client.close()
    }
}
