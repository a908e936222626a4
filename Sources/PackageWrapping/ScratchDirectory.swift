import Foundation

/// The directory for all build output, so that neither the package nor the toolchain is modified.
struct ScratchDirectory {
    let path: String

    init(path: String) {
        self.path = URL(fileURLWithPath: path).standardizedFileURL.path
    }

    /// The path of a tool that was not built in a checkout: in the user's cache (XDG Base Directory Specification), or
    /// with temporary files if the user has no home.
    static func ofUser(_ environment: [String: String] = ProcessInfo.processInfo.environment) -> String {
        // A relative path is invalid.
        func absolute(_ name: String) -> String? { environment[name].flatMap { $0.hasPrefix("/") ? $0 : nil } }
        let cache = absolute("XDG_CACHE_HOME") ?? absolute("HOME").map { $0 + "/.cache" }
        return (cache ?? NSTemporaryDirectory()) + "/harald/compatibility"
    }

    /// The build directory of Core Bluetooth and the stand-ins.
    var libraries: String { path }

    /// The modules that packages see, with a directory for each state of the libraries.
    var modules: String { path + "/modules" }

    /// Returns the build directory of a package. It contains the package's path, so that packages of the same name do
    /// not collide.
    func build(of package: String) -> String { "\(path)/wrapped\(package)/+build" }

    /// Returns the directory for the copy of a package. Copies lie to each other as their originals do, so that they
    /// find each other by relative paths.
    func copy(of package: String) -> String { "\(path)/adapted\(package)" }
}
