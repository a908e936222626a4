import ArgumentParser
import BluetoothService
import EventLoops
import Foundation
import ServiceMessages
import ServiceProcess
import ServiceSocket

struct MonitorCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "monitor",
        abstract: "Print the events of the Bluetooth service until interrupted.",
        discussion: """
            Only the user of the service sees the data that apps send and receive. Keys are never shown.

            Examples:
              harald monitor
              harald monitor --kinds links,misuse --json

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

    func run() throws {
        Console.endWithReader()
        let outcome = Outcome()
        outcome.finishOnInterrupt()
        let (isJSON, kinds) = (showing.json, kinds.bits)
        let client = service.connect(outcome) { client in
            client.ask(.monitor(kinds: kinds), onLine: { Self.show($0, isJSON) }) { result in
                outcome.finish(result.map { _ in }.mapError(ToolError.init))
            }
        }
        defer { client.with { $0.close() } }
        do throws(ToolError) {
            try outcome.wait()
        } catch {
            throw error.report()
        }
    }

    private static func show(_ text: String, _ isJSON: Bool) {
        if isJSON { return Console.json(text) }
        let event = try? JSONDecoder().decode(MonitoredEvent.self, from: Data(text.utf8))
        Console.line(event?.line ?? text)
    }
}

/// A set of event kinds, parsed from their names.
struct MonitoredKinds: Hashable, Sendable {
    static let names = Observation.Kinds.named.map(\.name).joined(separator: ", ")
    static let all = MonitoredKinds(bits: .max)

    let bits: UInt16

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
