import ArgumentParser
import BluetoothService
import Dispatch
import EventLoops
import Foundation
import HCITransports
import ServiceProcess
import ServiceSocket
import Synchronization

/// Which service a command speaks with.
struct ServiceOptions: ParsableArguments {
    /// How long a command waits for an answer: an app that is to end may take a while.
    static let patience = DispatchTimeInterval.seconds(30)

    @Option(help: "The socket of the service; else the one that HARALD_SERVICE names, or the one at a usual place.")
    var service: String?

    /// Makes a line to the service. `begin` is called on the loop once it is there; when there is none, or none any more, that is the
    /// outcome.
    func connect(
        _ outcome: Outcome,
        loop: NIOEventLoop = NIOEventLoop(),
        begin: @escaping @Sendable (ToolClient) -> Void
    ) -> LoopBound<ToolClient> {
        let paths = ServicePath.places(named: service)
        return loop.make {
            let client = ToolClient(paths.map { SocketDialer(path: $0, loop: loop) }, loop: loop)
            client.onEnd = { outcome.finish(.failure(.service("\($0)"))) }
            client.open { [weak client] in if let client { begin(client) } }
            return client
        }
    }

    /// Asks, and waits for the answer.
    func ask(_ question: ToolQuestion) throws(ToolError) -> String {
        let (outcome, answer) = (Outcome(), Answer())
        let client = connect(outcome) { client in
            client.ask(question) { result in
                if case .success(let text) = result { answer.text.withLock { $0 = text } }
                outcome.finish(result.map { _ in }.mapError(ToolError.init))
            }
        }
        DispatchQueue.global().asyncAfter(deadline: .now() + Self.patience) {
            outcome.finish(.failure(.service("the Bluetooth service does not answer; look at its log")))
        }
        defer { client.with { $0.close() } }
        try outcome.wait()
        return answer.text.withLock { $0 }
    }

    /// Asks, and reads the answer.
    func ask<Answer: Decodable>(_ question: ToolQuestion, for type: Answer.Type) throws(ToolError) -> Answer {
        try Self.read(try ask(question))
    }

    /// Reads an answer.
    static func read<Answer: Decodable>(_ text: String) throws(ToolError) -> Answer {
        do {
            return try JSONDecoder().decode(Answer.self, from: Data(text.utf8))
        } catch {
            throw .service("the Bluetooth service gives an answer of another form; both have to be of one release")
        }
    }

    private final class Answer: Sendable {
        let text = Mutex("")
    }
}

/// What commands that show something have in common.
struct ShowingOptions: ParsableArguments {
    @Flag(help: "Print JSON, for programs: its fields keep their names.")
    var json = false

    /// Asks, and prints the answer.
    func show<Answer: Decodable>(
        _ question: ToolQuestion,
        of service: ServiceOptions,
        as type: Answer.Type,
        lines: (Answer) -> [String]
    ) throws {
        do throws(ToolError) {
            let text = try service.ask(question)
            if json { return Console.json(text) }
            lines(try ServiceOptions.read(text)).forEach(Console.line)
        } catch {
            throw error.report()
        }
    }
}

extension ToolError {
    /// What a service answers in place of what it was asked for.
    init(_ error: ServiceError) {
        self = .service(error.reason ?? "the Bluetooth service does not say why not")
    }
}
