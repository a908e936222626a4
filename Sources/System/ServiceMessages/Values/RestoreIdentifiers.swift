import Foundation

/// The restore identifiers of the managers that an app is launched for (behaviour 10.6).
public struct RestoreIdentifiers: Hashable, Sendable {
    /// The identifiers of central managers.
    public var centrals: [String]
    /// The identifiers of peripheral managers.
    public var peripherals: [String]

    /// Creates the identifiers of both roles. By default there are none.
    ///
    /// - Parameters:
    ///   - centrals: The restore identifiers of central managers.
    ///   - peripherals: The restore identifiers of peripheral managers.
    public init(centrals: [String] = [], peripherals: [String] = []) {
        self.centrals = centrals
        self.peripherals = peripherals
    }
}

// The service passes the restore identifiers to the processes it launches in their environment, as JSON.
extension RestoreIdentifiers {
    package static let variable = "HARALD_RESTORE"

    private struct Text: Codable {
        var centrals: [String]?
        var peripherals: [String]?
    }

    /// The managers that this process was launched to restore. Empty if the service did not launch the process
    /// (behaviour 10.6).
    public static let ofThisLaunch = RestoreIdentifiers(environment: ProcessInfo.processInfo.environment)

    /// Reads the identifiers from an environment. They are empty if the variable is missing or malformed.
    package init(environment: [String: String]) {
        let data = environment[Self.variable].map { Data($0.utf8) }
        let text = data.flatMap { try? JSONDecoder().decode(Text.self, from: $0) }
        self.init(centrals: text?.centrals ?? [], peripherals: text?.peripherals ?? [])
    }

    package var environmentValue: String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = .sortedKeys
        // Strings can always be encoded.
        guard let data = try? encoder.encode(Text(centrals: centrals, peripherals: peripherals)) else { return "{}" }
        return String(decoding: data, as: UTF8.self)
    }
}
