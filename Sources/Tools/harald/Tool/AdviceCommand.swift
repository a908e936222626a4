import ArgumentParser
import BluetoothTypes
import EventLoops
import Foundation
import ServiceEvents
import ServiceMessages
import ServiceProcess
import Synchronization

struct AdviceCommand: ShowingCommand {
    static let configuration = CommandConfiguration(
        commandName: "advice",
        abstract: "Print where apps of the Bluetooth service break good practices, until interrupted.",
        discussion: """
            Each line has the number of a rule in chapter 12 of Documentation/Behaviours.md, the app, its action, and the \
            remedy. Repeated actions are counted, and the counts are printed at the end. The command watches apps from its start on.

            Examples:
              harald advice
              harald advice --app com.example.heart --json

            \(ExitStatus.textUntilInterrupted())
            """
    )

    @OptionGroup var service: ServiceOptions
    @OptionGroup var showing: ShowingOptions

    @Option(help: ArgumentHelp("Only advise the app of this name.", valueName: "NAME"))
    var app: String?

    func execute() throws(ToolError) {
        Console.endWithReader()
        if isatty(STDERR_FILENO) == 1 { Console.problem("watching the apps of the Bluetooth service (Ctrl-C ends)") }
        let outcome = Outcome()
        outcome.finishOnInterrupt()
        let (json, app) = (json, app)
        let printer = AdvicePrinter(json: json, app: app)
        let client = service.connect(outcome) { client in
            client.ask(.advice, onLine: { printer.show($0) }) { result in
                outcome.finish(result.map { _ in }.mapError(ToolError.init))
            }
        }
        defer {
            client.with { $0.close() }
            printer.finish()
        }
        try outcome.wait()
    }
}

/// Prints advice as it arrives: each at once, and its count at the end. As JSON, each change is a line.
final class AdvicePrinter: Sendable {
    /// The maximum number of advices whose counts are printed at the end.
    private static let maximumCounted = 1_000

    private struct Cause: Hashable {
        let rule: String
        let app: String
        let owner: UInt32
        let found: String
    }

    private let json: Bool
    private let app: String?
    private let say: @Sendable (String) -> Void
    private let counted = Mutex<(order: [Cause], last: [Cause: AdviceStatus])>(([], [:]))

    init(json: Bool, app: String?, say: @escaping @Sendable (String) -> Void = { Console.line($0) }) {
        (self.json, self.app, self.say) = (json, app, say)
    }

    /// Prints an advice in JSON. One that this version cannot decode is printed as it is.
    func show(_ text: String) {
        guard let advice = try? JSONDecoder().decode(AdviceStatus.self, from: Data(text.utf8)) else {
            return say(Console.escaped(json: text))
        }
        guard app == nil || app == advice.app else { return }
        guard !json else { return say(Console.escaped(json: text)) }
        if isNew(advice) { say(advice.line) }
    }

    /// Notes an advice, and returns whether it is about a cause without an advice so far.
    private func isNew(_ advice: AdviceStatus) -> Bool {
        let cause = Cause(rule: advice.rule, app: advice.app, owner: advice.owner, found: advice.found)
        return counted.withLock { counted in
            if counted.last.updateValue(advice, forKey: cause) != nil { return false }
            if counted.order.count < Self.maximumCounted {
                counted.order.append(cause)
            } else {
                counted.last[cause] = nil
            }
            return true
        }
    }

    /// Prints what happened more than once, with its count.
    func finish() {
        let all = counted.withLock { counted in counted.order.compactMap { counted.last[$0] } }
        let repeated = all.filter { $0.count > 1 }
        guard !repeated.isEmpty, !json else { return }
        say("More than once:")
        for advice in repeated {
            say("  \(advice.rule) \(advice.app.visible) \(advice.found.visible) (\(advice.count) times)")
        }
    }
}
