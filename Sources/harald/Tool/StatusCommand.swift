import ArgumentParser
import BluetoothService
import ServiceMessages

struct StatusCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "status",
        abstract: "Show the state of the Bluetooth service: its controller, and how apps use it.",
        discussion: """
            Examples:
              harald status
              harald status --json

            \(ExitStatus.text())
            """
    )

    @OptionGroup var service: ServiceOptions
    @OptionGroup var showing: ShowingOptions

    func run() throws {
        try showing.show(.status, of: service, as: SystemStatus.self) { $0.lines }
    }
}
