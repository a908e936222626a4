import HCITransports
import ServiceMessages
import TestBasics
import Testing

@testable import ServiceProcess

/// How long an app waits with its first question, in real time.
@Suite(.timeLimit(.minutes(1))) struct QuestionWaitTests {
    private func connection(_ path: String) -> RemoteConnection {
        let hello = Hello(AppIdentity(name: "app"))
        return RemoteConnection(path: path, hello: hello, loop: NIOEventLoop(), logger: SocketService.silent)
    }

    /// Whether the question is answered, and whether that took less than an app waits.
    private func ask(_ connection: RemoteConnection) -> (isAnswered: Bool, isAtOnce: Bool) {
        let begin = ContinuousClock.now
        let result = connection.ask(.system, from: .none)
        let isAtOnce = ContinuousClock.now - begin < .seconds(9)
        if case .success = result { return (true, isAtOnce) }
        return (false, isAtOnce)
    }

    @Test("a question waits until it is clear whether there is a service, and no longer")
    func theFirstQuestion() async throws {
        let scratch = TemporaryDirectory.uncreated()
        let first = connection(scratch.socket)
        #expect(ask(first) == (false, true))
        let socket = try ListeningSocket(path: scratch.socket, mode: 0o600, group: nil)
        let service = try await SocketService(on: socket, path: scratch.socket)
        let second = connection(scratch.socket)
        #expect(ask(second) == (true, true))
        #expect(ask(second) == (true, true))
        service.close()
        withExtendedLifetime((first, second)) {}
    }
}
