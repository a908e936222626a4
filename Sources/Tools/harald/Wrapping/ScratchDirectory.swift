import Foundation

#if canImport(CoreFoundation)
    // Beside the headers of CTool, the compiler takes stat(2) for a part of it.
    import CoreFoundation
#endif

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
        return cache.map { $0 + "/harald/compatibility" }
            ?? "\(NSTemporaryDirectory())/harald-compatibility-\(geteuid())"
    }

    /// Creates the directory. Another user may have made it first, in a directory of temporary files (AB-T01).
    func prepare() throws(WrappingError) {
        do {
            try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
        } catch {
            throw WrappingError("cannot create \(path): \(error.localizedDescription)")
        }
        var status = stat()
        guard stat(path, &status) == 0, [0, geteuid()].contains(status.st_uid) else {
            throw WrappingError("\(path) belongs to another user; choose another directory with --scratch")
        }
    }

    /// Removes what is at the path of a copy, and creates the directories above it, none of which may be a link.
    func makeRoom(for copy: String) throws(WrappingError) {
        var (place, status) = (path, stat())
        for name in copy.dropFirst(path.count).split(separator: "/") {
            if place != path {
                if lstat(place, &status) != 0, errno == ENOENT { _ = mkdir(place, 0o755) }
                guard lstat(place, &status) == 0, status.st_mode & S_IFMT == S_IFDIR else {
                    throw WrappingError("\(place) is not a directory; remove it")
                }
            }
            place += "/" + name
        }
        guard lstat(place, &status) == 0 else { return }
        do {
            try FileManager.default.removeItem(atPath: place)
        } catch {
            throw WrappingError("cannot remove \(place): \(error.localizedDescription)")
        }
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
