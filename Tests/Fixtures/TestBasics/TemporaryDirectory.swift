import Foundation

/// The path of a directory of one test, which is deleted with this object.
package final class TemporaryDirectory: Sendable {
    package let path = NSTemporaryDirectory() + "harald-\(UUID())"

    /// Creates the directory, by default for the user alone.
    package init(mode: Int = 0o700) throws {
        try FileManager.default.createDirectory(
            atPath: path,
            withIntermediateDirectories: false,
            attributes: [.posixPermissions: mode]
        )
    }

    private init(uncreated: Void) {}

    deinit { try? FileManager.default.removeItem(atPath: path) }

    /// A directory that does not exist yet, for tests in which the product creates it.
    package static func uncreated() -> TemporaryDirectory { TemporaryDirectory(uncreated: ()) }

    /// The path of a file in the directory.
    package func file(_ name: String) -> String { "\(path)/\(name)" }

    /// Writes a file, and creates the directories that it is in.
    package func write(_ text: String, to name: String) throws {
        let url = URL(fileURLWithPath: file(name))
        try FileManager.default.createDirectory(at: url.deletingLastPathComponent(), withIntermediateDirectories: true)
        try Data(text.utf8).write(to: url)
    }
}
