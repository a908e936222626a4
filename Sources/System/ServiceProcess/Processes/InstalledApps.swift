import BluetoothTypes
import Foundation
import ServiceMessages

/// The apps in a directory. Each is a directory with an `Info.plist` that contains the app's identifier and launch
/// command.
package struct InstalledApps: Hashable, Sendable {
    /// The maximum number of apps that are read (AB-G05).
    static let maximumApps = 256
    /// The maximum size of an `Info.plist`, in octets.
    static let maximumOctets = 1 << 20

    private let directory: String

    /// Creates the list of apps in a directory, which need not exist.
    package init(directory: String) {
        self.directory = directory
    }

    /// Returns the launch command of each app that has one, by bundle identifier. Blocks on the file system.
    func commands() -> [String: [String]] {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: directory)) ?? []
        var commands: [String: [String]] = [:]
        for name in names.sorted().prefix(Self.maximumApps) {
            guard let (app, command) = Self.app(of: "\(directory)/\(name)/Info.plist") else { continue }
            // The first of several apps with the same identifier counts.
            if commands[app] == nil { commands[app] = command }
        }
        return commands
    }

    private static func app(of path: String) -> (name: String, command: [String])? {
        guard let file = try? PlainFile(path, atMost: maximumOctets),
            let list = try? PropertyList.dictionary(file.octets),
            let name = list["CFBundleIdentifier"] as? String, !name.isEmpty
        else { return nil }
        let command = AppDeclaration(propertyList: list).launchCommand
        return command.isEmpty ? nil : (name, command)
    }
}
