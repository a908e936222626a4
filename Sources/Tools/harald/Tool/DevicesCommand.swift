import Administration
import ArgumentParser
import ServiceMessages

struct DevicesCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "devices",
        abstract: "List the devices known to the Bluetooth service, connected ones first.",
        discussion: """
            Examples:
              harald devices
              harald devices --json

            \(ExitStatus.text())
            """
    )

    @OptionGroup var service: ServiceOptions
    @OptionGroup var showing: ShowingOptions

    func run() throws {
        try showing.show(.devices, of: service, as: [DeviceStatus].self, lines: Self.lines)
    }

    /// The devices for people.
    static func lines(_ devices: [DeviceStatus]) -> [String] {
        devices.isEmpty ? ["no devices"] : devices.map(\.line)
    }
}
