import Administration
import AppAdvice
import ArgumentParser
import EventLoops
import Foundation
import HCITransports
import ServiceEvents
import ServiceMessages
import ServiceProcess

struct MonitorCommand: ShowingCommand {
    static let configuration = CommandConfiguration(
        commandName: "monitor",
        abstract: "Print the events of the Bluetooth service until interrupted.",
        discussion: """
            The times are local. An arrow shows whether an app sent a request (→) or received an event (←). Events that repeat \
            are one line every ten seconds, and flow control is left out; --all prints each event. Only the user of the service \
            sees the data that apps send and receive. Keys are never shown.

            Examples:
              harald monitor
              harald monitor --kinds links,misuse --json
              harald monitor --advice

            \(ExitStatus.textUntilInterrupted())
            """
    )

    @OptionGroup var service: ServiceOptions
    @OptionGroup var showing: ShowingOptions

    @Option(
        help: ArgumentHelp(
            "Print only these kinds of events, separated by commas: \(MonitoredKinds.names).",
            valueName: "KINDS"
        ),
        transform: MonitoredKinds.init
    )
    var kinds = MonitoredKinds.all

    @Flag(help: "Also print where apps break good practices, as `harald advice` does.")
    var advice = false

    @Flag(help: "Print each event, also those that repeat, and flow control.")
    var all = false

    @Flag(help: "Print the messages of apps field by field, with the service's clock.")
    var raw = false

    func validate() throws {
        if raw, showing.json { throw ValidationError("--raw and --json exclude each other") }
    }

    func execute() throws(ToolError) {
        Console.endWithReader()
        // For people only: another program that reads standard error looks for problems there.
        if isatty(STDERR_FILENO) == 1 { Console.problem("watching the Bluetooth service (Ctrl-C ends)") }
        let outcome = Outcome()
        outcome.finishOnInterrupt()
        let (kinds, advice, loop) = (kinds, advice, NIOEventLoop())
        let form: MonitorForm = showing.json ? .json : raw ? .raw : all ? .words : .story
        let client = service.connect(outcome, loop: loop) { client in
            let printer = MonitorPrinter(form, kinds: kinds)
            if form == .story { printer.settle(every: .seconds(1), on: loop) }
            for question in [.monitor(kinds: kinds.asked(for: form))] + (advice ? [.advice] : []) as [ToolQuestion] {
                client.ask(question, onLine: { printer.show($0) }) { result in
                    outcome.finish(result.map { _ in }.mapError(ToolError.init))
                }
            }
        }
        defer { client.with { $0.close() } }
        try outcome.wait()
    }
}

/// The ways to print an event.
enum MonitorForm: Sendable {
    /// As a story, in which events that repeat are one line.
    case story
    case words
    /// All fields of a message, named as on the wire.
    case raw
    case json
}

/// Prints events of the service as they arrive. Lives on the loop.
final class MonitorPrinter {
    private let form: MonitorForm
    private let kinds: MonitoredKinds
    /// The time for which an event may repeat before its line is printed.
    private static let longestSeries = Duration.seconds(10)
    private static let maximumLines = 1_000

    private let say: (String) -> Void
    private var words = MonitorWords()
    private var story = Story(longestSeries: MonitorPrinter.longestSeries, maximumLines: MonitorPrinter.maximumLines)
    /// The numbers of the lines whose events have repeated since they were printed.
    private var repeated: [Int] = []

    init(_ form: MonitorForm, kinds: MonitoredKinds = .all, say: @escaping (String) -> Void = Console.line) {
        self.form = form
        self.kinds = kinds
        self.say = say
    }

    /// Prints an event in JSON. One that this version cannot decode is printed as it is.
    ///
    /// - Parameter now: The time of day, for an event without one.
    func show(_ text: String, now: Date = Date()) {
        if let advice = try? JSONDecoder().decode(AdviceStatus.self, from: Data(text.utf8)) {
            return say(form == .json ? Console.escaped(json: text) : "advice: \(advice.line)")
        }
        guard var event = try? JSONDecoder().decode(MonitoredEvent.self, from: Data(text.utf8)) else {
            return say(Console.escaped(json: text))
        }
        guard kinds.contains(event.kind) else {
            // Contains the names of the devices that shown events are about.
            _ = words.message(of: event)
            return
        }
        switch form {
        case .story: tell(event, now: now)
        case .words: say(words.line(event, arrival: now.timeIntervalSince1970))
        case .raw: say(event.line)
        case .json:
            // Milliseconds, since the transmission takes longer than that.
            event.date = event.date ?? (now.timeIntervalSince1970 * 1_000).rounded() / 1_000
            event.text = words.message(of: event) ?? event.text
            say(Console.escaped(json: JSONText.of(event) ?? text))
        }
    }
}

extension MonitorPrinter {
    /// Prints an event, or holds it back if it repeats an earlier one.
    private func tell(_ event: MonitoredEvent, now: Date) {
        let time = Duration.milliseconds(Int64(((event.date ?? now.timeIntervalSince1970) * 1_000).rounded()))
        let change = story.add(StoryEvent(event, words.text(of: event), at: time))
        settle()
        switch change {
        case .left: break
        case .began: say(story.line(story.count - 1).text(Self.clock))
        case .repeated(let number): if !repeated.contains(number) { repeated.append(number) }
        }
    }

    /// Prints the series that are over.
    private func settle() {
        let over = repeated.filter { !story.isOpen($0) }
        repeated.removeAll { over.contains($0) }
        for number in over where number >= story.firstLine { say(story.line(number).repetition(Self.clock)) }
    }

    /// Prints the series that are over, again and again.
    func settle(every interval: Duration, on loop: any EventLoop) {
        loop.schedule(after: interval) { [weak self] in
            guard let self else { return }
            story.advance(to: .milliseconds(Int64(Date().timeIntervalSince1970 * 1_000)))
            settle()
            settle(every: interval, on: loop)
        }
    }

    private static func clock(_ time: Duration) -> String {
        MonitorWords.clock(time / .seconds(1))
    }
}

/// A set of event kinds, parsed from their names.
struct MonitoredKinds: Hashable, Sendable {
    static let names = Observation.Kinds.named.map(\.name).joined(separator: ", ")
    static let all = MonitoredKinds(bits: .max)

    private let bits: UInt16

    /// Returns the kinds to ask the service for: those shown, and messages, which name the devices.
    func asked(for form: MonitorForm) -> UInt16 {
        form == .words || form == .story ? bits | Observation.Kinds.messages.rawValue : bits
    }

    /// Whether events of this kind are shown. That events were lost, and kinds of later versions, are always shown.
    func contains(_ name: String) -> Bool {
        guard let kind = Observation.Kinds.named.first(where: { $0.name == name })?.kind else { return true }
        return bits & kind.rawValue != 0
    }

    private init(bits: UInt16) {
        self.bits = bits
    }

    init(_ text: String) throws {
        var kinds: Observation.Kinds = []
        for name in text.split(separator: ",") {
            guard let known = Observation.Kinds.named.first(where: { $0.name == name }) else {
                throw ValidationError("\"\(name)\" is not a kind of event; available: \(Self.names)")
            }
            kinds.formUnion(known.kind)
        }
        guard !kinds.isEmpty else { throw ValidationError("--kinds must name at least one of \(Self.names)") }
        bits = kinds.rawValue
    }
}
