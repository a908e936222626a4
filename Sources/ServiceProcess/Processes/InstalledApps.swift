import BluetoothService
import Foundation

/// The apps of a directory: each is a directory with an `Info.plist`, which says what the app is called and how it is started.
package struct InstalledApps: Hashable, Sendable {
    /// Apps that are looked at (AB-G05).
    static let maximumApps = 256
    /// Octets of an `Info.plist`.
    static let maximumOctets = 1 << 20

    private let directory: String

    /// The apps of a directory, which need not be there.
    package init(directory: String) {
        self.directory = directory
    }

    /// How each app is started that can be, by its bundle identifier. Blocks for as long as the file system takes.
    func commands() -> [String: [String]] {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: directory)) ?? []
        var commands: [String: [String]] = [:]
        for name in names.sorted().prefix(Self.maximumApps) {
            guard let (app, command) = Self.app(of: "\(directory)/\(name)/Info.plist") else { continue }
            // Of two with one name the first counts.
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
