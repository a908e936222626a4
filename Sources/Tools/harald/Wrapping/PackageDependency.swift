import Foundation

/// A package that a wrapped package depends on, directly or not.
struct PackageDependency: Hashable {
    let identity: String
    let path: String
    /// Whether the dependency is named by its path, and not fetched.
    let isLocal: Bool

    /// Returns the dependencies of a package, after fetching those that are not on this machine.
    static func all(of path: String, scratch build: String, _ output: WrappingOutput) throws(WrappingError) -> [Self] {
        let show = [
            "swift", "package", "--package-path", path, "--scratch-path", build, "show-dependencies", "--format",
            "json",
        ]
        let text = try Command.output(of: show, output)
        do {
            // Resolving may print lines before the document.
            let start = text.firstIndex(of: UInt8(ascii: "{")) ?? text.startIndex
            let root = try JSONDecoder().decode(Node.self, from: text[start...])
            return Array(Set(root.dependencies.flatMap(\.all))).sorted { $0.path < $1.path }
        } catch {
            throw WrappingError("cannot decode swift's list of dependencies of \(path): \(error)")
        }
    }

    private struct Node: Decodable {
        let identity: String
        let url: String
        let path: String
        let dependencies: [Node]

        var all: [PackageDependency] {
            [PackageDependency(identity: identity, path: path, isLocal: url == path)] + dependencies.flatMap(\.all)
        }
    }
}
