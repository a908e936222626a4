import ArgumentParser
import Dispatch
import EventLoops
import Foundation
import HCITransports
import ServiceMessages
import ServiceProcess
import Synchronization

/// The option that selects a service.
struct ServiceOptions: ParsableArguments {
    /// The time limit for an answer. Ending an app may take a while.
    static let answerTimeout = DispatchTimeInterval.seconds(30)

    @Option(
        help: ArgumentHelp(
            "The socket of the service (default: the one named by HARALD_SERVICE, or at a standard place).",
            valueName: "SOCKET"
        ),
        completion: .file()
    )
    var service: String?

    func validate() throws {
        try ShellLine.refuse([("--service", service != nil)])
    }

    func at(_ path: String) -> ServiceOptions {
        var options = self
        options.service = path
        return options
    }

    /// Connects to the service. Calls `begin` on the loop once connected. A missing or lost service ends the command.
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

    func ask(_ question: ToolQuestion) throws(ToolError) -> String {
        let (outcome, answer) = (Outcome(), Answer())
        let client = connect(outcome) { client in
            client.ask(question) { result in
                if case .success(let text) = result { answer.text.withLock { $0 = text } }
                outcome.finish(result.map { _ in }.mapError(ToolError.init))
            }
        }
        DispatchQueue.global().asyncAfter(deadline: .now() + Self.answerTimeout) {
            outcome.finish(.failure(.service("the Bluetooth service does not answer; see its log")))
        }
        defer { client.with { $0.close() } }
        try outcome.wait()
        return answer.text.withLock { $0 }
    }

    func ask<Answer: Decodable>(_ question: ToolQuestion, for type: Answer.Type) throws(ToolError) -> Answer {
        try Self.read(try ask(question))
    }

    static func read<Answer: Decodable>(_ text: String) throws(ToolError) -> Answer {
        do {
            return try JSONDecoder().decode(Answer.self, from: Data(text.utf8))
        } catch {
            throw .service(
                "cannot decode the answer of the Bluetooth service; the service and this tool must be from the same release"
            )
        }
    }

    private final class Answer: Sendable {
        let text = Mutex("")
    }
}

/// A command with the option `--json`.
protocol ShowingCommand: ToolCommand {
    var showing: ShowingOptions { get }
}

extension ShowingCommand {
    var json: Bool { showing.json }
    var report: ToolReport { ToolReport(json: json) }
}

/// The output option of commands that show something.
struct ShowingOptions: ParsableArguments {
    @Flag(help: "Print JSON for programs. Its field names are stable.")
    var json = false

    func show<Answer: Decodable>(
        _ question: ToolQuestion,
        of service: ServiceOptions,
        as type: Answer.Type,
        lines: (Answer) -> [String]
    ) throws(ToolError) {
        let text = try service.ask(question)
        if json { return Console.json(text) }
        lines(try ServiceOptions.read(text)).forEach(Console.line)
    }
}

extension ToolError {
    init(_ error: ServiceError) {
        self = .service(error.reason ?? "the Bluetooth service gave no reason")
    }
}
