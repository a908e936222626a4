import ArgumentParser
import BluetoothService
import EventLoops
import Foundation
import ServiceProcess
import ServiceSocket

struct MonitorCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "monitor",
        abstract: "Show what happens in the Bluetooth service, until interrupted.",
        discussion: "What apps say and hear is shown to the user of the service alone; keys are shown to nobody."
    )

    @OptionGroup var service: ServiceOptions
    @OptionGroup var showing: ShowingOptions

    @Option(
        help: "Show these kinds of events only, with commas between: \(MonitoredKinds.names).",
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
                throw ValidationError("\"\(name)\" is no kind of event; there are \(Self.names)")
            }
            kinds.formUnion(known.kind)
        }
        guard !kinds.isEmpty else { throw ValidationError("--kinds names at least one of \(Self.names)") }
        bits = kinds.rawValue
    }
}
