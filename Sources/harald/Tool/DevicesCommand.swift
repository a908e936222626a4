import ArgumentParser
import BluetoothService

struct DevicesCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "devices",
        abstract: "The devices that the Bluetooth service knows, those that are connected first."
    )

    @OptionGroup var service: ServiceOptions
    @OptionGroup var showing: ShowingOptions

    func run() throws {
        try showing.show(.devices, of: service, as: [DeviceStatus].self) { devices in
            devices.isEmpty ? ["no devices"] : devices.map(\.line)
        }
    }
}
