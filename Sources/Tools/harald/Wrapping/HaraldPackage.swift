import BluetoothTypes
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

/// The sources of packages, which are text of strangers (AB-T01).
enum TextFile {
    /// The octets of a source.
    static let maximumLength = 16 << 20

    static func read(_ path: String) throws(WrappingError) -> String {
        do throws(PlainFile.Fault) {
            return String(decoding: try PlainFile(path, atMost: maximumLength).octets, as: UTF8.self)
        } catch {
            throw WrappingError("cannot read \(path): \(error)")
        }
    }

    static func write(_ text: String, to path: String) throws(WrappingError) {
        do throws(OutputFile.Failure) {
            try OutputFile.write(Array(text.utf8), to: path)
        } catch {
            throw WrappingError("\(error)")
        }
    }
}
