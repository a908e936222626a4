import Administration
import ArgumentParser
import HCITransports

struct DoctorCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "doctor",
        abstract: "Diagnose this machine's Bluetooth, and suggest remedies.",
        discussion: """
            Checks adapters, permissions, bluetoothd, rfkill, the kernel log and the service, and queries the capabilities of a free \
            controller. It changes nothing and needs no privileges, but finds more with them. The exit status is 0 if there is no \
            problem, and 1 if there is one.

            Examples:
              harald doctor
              harald doctor --json
            """
    )

    @OptionGroup var service: ServiceOptions

    @Option(
        help: ArgumentHelp(
            "The controller to query (default: a free adapter, if this user may claim it).",
            valueName: "CONTROLLER"
        )
    )
    var controller: ControllerAddress?

    @OptionGroup var showing: ShowingOptions

    func run() throws {
        var facts = LinuxFacts().facts()
        facts.queryService(at: service)
        facts.ask(controller)
        let diagnosis = Diagnosis(of: facts)
        if showing.json {
            JSONText.of(diagnosis).map(Console.json)
        } else {
            diagnosis.lines.forEach(Console.line)
        }
        if !diagnosis.isSound { throw ExitCode(1) }
    }
}
