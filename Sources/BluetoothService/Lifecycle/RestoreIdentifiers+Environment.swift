import Foundation

// How a process that the service launches is told what it is launched for: in its environment, as JSON.
extension RestoreIdentifiers {
    /// The environment variable.
    package static let variable = "HARALD_RESTORE"

    private struct Text: Codable {
        var centrals: [String]?
        var peripherals: [String]?
    }

    /// What this process was launched for; nothing for one that was not launched by the service (behaviour 10.6).
    public static let ofThisLaunch = RestoreIdentifiers(environment: ProcessInfo.processInfo.environment)

    /// What an environment says; nothing where it says nothing, or what cannot be read.
    package init(environment: [String: String]) {
        let data = environment[Self.variable].map { Data($0.utf8) }
        let text = data.flatMap { try? JSONDecoder().decode(Text.self, from: $0) }
        self.init(centrals: text?.centrals ?? [], peripherals: text?.peripherals ?? [])
    }

    /// What stands in the environment.
    package var environmentValue: String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = .sortedKeys
        // Texts can always be encoded.
        guard let data = try? encoder.encode(Text(centrals: centrals, peripherals: peripherals)) else { return "{}" }
        return String(decoding: data, as: UTF8.self)
    }
}
