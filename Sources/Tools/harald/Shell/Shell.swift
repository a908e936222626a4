import Administration
import ArgumentParser
import BluetoothTypes
import Foundation

/// Reads lines and runs them, one after the other, on the main thread.
struct Shell {
    /// The outcome of a line.
    enum Result: Equatable {
        case done(Int32)
        case quit
    }

    let session: ShellSession
    let source: any LineSource
    let history: ShellHistory?
    let json: Bool
    /// Whether to continue after a line that fails.
    let keepsGoing: Bool

    /// Runs all lines. Returns the status of the first one that has failed.
    func run() -> Int32 {
        var first: Int32 = 0
        while true {
            switch handle(source.next(prompt: prompt)) {
            case .quit: return first
            case .done(let status):
                if let end = session.end { return end.exitStatus }
                if first == 0 { first = status }
                if status != 0, !keepsGoing { return first }
            }
        }
    }

    /// The prompt, with the device that was connected to last.
    private var prompt: String { Self.prompt(for: session.memory.connected.map(\.name)) }

    private static let maximumName = 32

    static func prompt(for devices: [String]) -> String {
        guard let last = devices.last else { return "harald> " }
        let name = last.count <= maximumName ? last : last.prefix(maximumName) + "..."
        let others = devices.count > 1 ? " +\(devices.count - 1)" : ""
        return "harald [\(name.visible)\(others)]> "
    }

    private func handle(_ input: ShellInput) -> Result {
        switch input {
        case .end: return .quit
        case .invalid(let reason): return misuse(reason)
        case .line(let line):
            if let history, ShellHistory.keeps(line) {
                source.remember(line)
                history.add(line)
            }
            return run(line)
        }
    }

    private func run(_ line: String) -> Result {
        let words: [String]
        do throws(ShellWords.Unfinished) {
            words = try ShellWords.split(line)
        } catch {
            return misuse("\(error)")
        }
        guard let name = words.first else { return .done(0) }
        guard let command = ShellVerbs.named(name) else {
            return misuse("\(UnknownCommand(name, among: ShellVerbs.names))")
        }
        do {
            let parsed = try ShellLine.$isBeingParsed.withValue(true) {
                try command.parseAsRoot(Array(words.dropFirst()))
            }
            return try run(parsed)
        } catch {
            return report(error, of: command)
        }
    }

    private func run(_ command: any ParsableCommand) throws -> Result {
        switch command {
        case is QuitVerb: return .quit
        case let verb as any SessionVerb: return perform(verb)
        case let command as DevicesCommand: return listDevices(command)
        default:
            // `help`, and what the argument parser returns for `--help`.
            var command = command
            try command.run()
            return .done(0)
        }
    }

    private func perform(_ verb: any SessionVerb) -> Result {
        let report = ToolReport(json: json || verb.showing.json, onlyResult: verb.printsOnlyResult)
        let result = session.perform(report) { client async throws(ToolError) in
            try await verb.performInSession(client)
        }
        guard case .failure(let error) = result else { return .done(0) }
        report.fail(error)
        return .done(error.exitStatus)
    }

    private func listDevices(_ command: DevicesCommand) -> Result {
        let report = ToolReport(json: json || command.showing.json)
        do throws(ToolError) {
            let devices = try session.devices(report)
            guard report.isJSON else {
                DevicesCommand.lines(devices).forEach(Console.line)
                return .done(0)
            }
            Console.json(JSONText.of(devices) ?? "[]")
            return .done(0)
        } catch {
            report.fail(error)
            return .done(error.exitStatus)
        }
    }

    private func misuse(_ reason: String) -> Result {
        Console.problem("harald: \(reason)")
        return .done(EX_USAGE)
    }

    /// Reports an error of the argument parser, or prints the help that it throws.
    private func report(_ error: any Error, of command: any ParsableCommand.Type) -> Result {
        let status = command.exitCode(for: error)
        let message = command.fullMessage(for: error)
        for line in message.split(separator: "\n", omittingEmptySubsequences: false) where !message.isEmpty {
            status.isSuccess ? Console.line(String(line)) : Console.problem(String(line))
        }
        return .done(status.rawValue)
    }
}
