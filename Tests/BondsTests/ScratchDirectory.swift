import Foundation

/// The path of a directory that does not exist yet, in one that other users may not enter and that is removed with this
/// object.
final class ScratchDirectory {
    let path: String
    private let above: URL

    init() throws {
        above = FileManager.default.temporaryDirectory.appendingPathComponent("bonds-\(UUID().uuidString)")
        let permissions = [FileAttributeKey.posixPermissions: 0o700]
        try FileManager.default.createDirectory(at: above, withIntermediateDirectories: true, attributes: permissions)
        path = above.appendingPathComponent("store").path
    }

    deinit { try? FileManager.default.removeItem(at: above) }

    /// The path of a file in the directory.
    func file(_ name: String) -> String { "\(path)/\(name)" }
}
