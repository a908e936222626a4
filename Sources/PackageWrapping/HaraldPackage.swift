import Foundation

/// The checkout of Harald that provides the modules for a wrapped package.
struct HaraldPackage {
    let path: String

    private init(path: String) { self.path = path }

    /// Uses the checkout at `path`, or the one that this tool was built in.
    init(named path: String?) throws(WrappingError) {
        if let path {
            guard Self.isThere(path) else {
                throw WrappingError("\(path) is not a checkout of Harald: it has no Compatibility/Package.swift")
            }
            self.path = URL(fileURLWithPath: path).standardizedFileURL.path
            return
        }
        guard let own = Self.ofThisTool() else {
            throw WrappingError("this tool was not built in a checkout of Harald; specify one with --harald DIRECTORY")
        }
        self = own
    }

    /// Returns the checkout that this tool was built in; nil for a tool that was installed.
    static func ofThisTool() -> HaraldPackage? {
        var directory = URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath()
        while directory.path != "/" {
            directory.deleteLastPathComponent()
            if isThere(directory.path) { return HaraldPackage(path: directory.path) }
        }
        return nil
    }

    private static func isThere(_ path: String) -> Bool {
        FileManager.default.fileExists(atPath: path + "/Compatibility/Package.swift")
    }

    var standIns: String { path + "/Compatibility" }
}

enum TextFile {
    static func read(_ path: String) throws(WrappingError) -> String {
        do {
            return String(decoding: try Data(contentsOf: URL(fileURLWithPath: path)), as: UTF8.self)
        } catch {
            throw WrappingError("cannot read \(path): \(error.localizedDescription)")
        }
    }

    static func write(_ text: String, to path: String) throws(WrappingError) {
        do {
            try Data(text.utf8).write(to: URL(fileURLWithPath: path))
        } catch {
            throw WrappingError("cannot write \(path): \(error.localizedDescription)")
        }
    }
}
