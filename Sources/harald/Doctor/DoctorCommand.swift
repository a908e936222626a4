import ArgumentParser
import Diagnosis
import Foundation
import HCITransports

struct DoctorCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "doctor",
        abstract: "What is wrong with this machine's Bluetooth, and how to mend it.",
        discussion: """
            Looks at adapters, rights, bluetoothd, switches of radios, the kernel's log and the service, and asks a controller that is \
            free what it can do. Nothing is changed, and no rights are needed; with them it sees more. The exit status is 0 when nothing is \
            wrong, and 1 when something is.
            """
    )

    @OptionGroup var service: ServiceOptions

    @Option(help: "Ask this controller; without it an adapter that nobody uses, if this user may take it.")
    var controller: ControllerAddress?

    @Flag(help: "Print JSON, for programs: its fields keep their names.")
    var json = false

    func run() throws {
        var facts = LinuxFacts().facts()
        facts.look(at: service)
        facts.ask(controller)
        let diagnosis = Diagnosis(of: facts)
        if json {
            let encoder = JSONEncoder()
            encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
            if let octets = try? encoder.encode(diagnosis) { Console.json(String(decoding: octets, as: UTF8.self)) }
        } else {
            diagnosis.lines.forEach(Console.line)
        }
        if !diagnosis.isSound { throw ExitCode(1) }
    }
}
