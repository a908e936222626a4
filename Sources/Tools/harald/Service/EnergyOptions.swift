import ArgumentParser
import Foundation
import RadioEnergy

/// The energy option of a service.
struct EnergyOptions: ParsableArguments {
    /// The names of the built-in profiles.
    private static let names = RadioProfile.files.map(\.name).joined(separator: ", ")

    @Option(
        help: ArgumentHelp(
            """
            Estimate what each app costs the battery, for harald status and the metrics, with the currents of this radio: \(names), or a file \
            in the format of radio profiles.
            """,
            valueName: "PROFILE"
        ),
        completion: .file(extensions: ["json"])
    )
    var energy: String?

    /// The radio profile; nil if nothing is to be estimated.
    func load() throws(ToolError) -> RadioProfile? {
        guard let energy else { return nil }
        do throws(RadioProfileError) {
            if let file = RadioProfile.files.first(where: { $0.name == energy }) {
                return try RadioProfile(json: file.json)
            }
            return try RadioProfile(contentsOf: URL(fileURLWithPath: energy))
        } catch {
            throw .service("--energy \(energy): \(error); built in are \(Self.names)")
        }
    }
}
