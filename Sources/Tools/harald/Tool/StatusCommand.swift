import Administration
import ArgumentParser
import AssignedNumbers
import ServiceMessages

struct StatusCommand: ShowingCommand {
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

    func execute() throws(ToolError) {
        try showing.show(.status, of: service, as: SystemStatus.self) { $0.lines(chip: \.words) }
    }
}

extension ControllerStatus {
    /// The version and the manufacturer, such as `Bluetooth 5.3 (HCI 12), manufacturer Intel Corp. (0x0002)`.
    var words: String {
        let name = UInt8(exactly: version).flatMap(AssignedNumbers.coreVersion)
        let maker = UInt16(exactly: company).map(AssignedNumbers.companyTitle) ?? "\(company)"
        return (name.map { "Bluetooth \($0) (HCI \(version))" } ?? "HCI \(version)") + ", manufacturer \(maker)"
    }
}

struct DevicesCommand: ShowingCommand {
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

    func execute() throws(ToolError) {
        try showing.show(.devices, of: service, as: [DeviceStatus].self, lines: Self.lines)
    }

    static func lines(_ devices: [DeviceStatus]) -> [String] {
        devices.isEmpty ? ["no devices"] : devices.map(\.line)
    }
}
