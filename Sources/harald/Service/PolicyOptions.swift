import ArgumentParser
import BluetoothService
import Bonds
import Foundation

/// What is decided without a person, and where that is written.
struct PolicyOptions: ParsableArguments {
    @Option(
        help: """
            Decide by this file who may pair and which apps may use Bluetooth, where nobody answers; else by harald/policy in the \
            directory for configuration, if there is one. SIGHUP reads it again.
            """
    )
    var policy: String?

    /// What the file says; nothing where none is named and there is none.
    func load() throws(ToolError) -> PolicyFile {
        let path = policy ?? Self.usualPath()
        guard policy != nil || FileManager.default.fileExists(atPath: path) else { return PolicyFile() }
        return try Self.read(path)
    }

    /// Reads a file. One that others can write decides nothing: they could let in whom they like.
    static func read(_ path: String) throws(ToolError) -> PolicyFile {
        let octets: Data
        do {
            let file = try FileHandle(forReadingFrom: URL(fileURLWithPath: path))
            defer { try? file.close() }
            octets = try file.read(upToCount: PolicyFile.maximumOctets + 1) ?? Data()
            let status = try PosixBondDirectory.status(of: file.fileDescriptor)
            guard [0, getuid()].contains(status.owner), status.permissions & 0o022 == 0 else {
                throw ToolError.service("\(path) can be written by others; make it yours, with chmod 600")
            }
        } catch let error as ToolError {
            throw error
        } catch {
            throw .service("\(path) cannot be read: \(error.localizedDescription); choose another with --policy")
        }
        do throws(PolicyError) {
            return try PolicyFile(parsing: Array(octets))
        } catch {
            throw .service("\(path): \(error)")
        }
    }

    /// Where it is when none is named (XDG Base Directory Specification).
    static func usualPath(environment: [String: String] = ProcessInfo.processInfo.environment) -> String {
        // A path that is not absolute does not count.
        let named = environment["XDG_CONFIG_HOME"].flatMap { $0.hasPrefix("/") ? $0 : nil }
        return (named ?? (environment["HOME"] ?? NSHomeDirectory()) + "/.config") + "/harald/policy"
    }
}
