import ArgumentParser
import BluetoothService

struct StatusCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "status",
        abstract: "How the Bluetooth service is: its controller, and what apps do with it."
    )

    @OptionGroup var service: ServiceOptions
    @OptionGroup var showing: ShowingOptions

    func run() throws {
        try showing.show(.status, of: service, as: SystemStatus.self) { $0.lines }
    }
}
