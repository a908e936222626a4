import TestBasics

/// The path of a directory that does not exist yet, in one that other users may not enter and that is removed with this
/// object.
final class TestDirectory {
    let path: String
    private let above: TemporaryDirectory

    init() throws {
        above = try TemporaryDirectory()
        path = above.file("store")
    }

    /// The path of a file in the directory.
    func file(_ name: String) -> String { "\(path)/\(name)" }
}
