import Administration
import ArgumentParser
import BluetoothService
import BluetoothTypes
import Foundation
import ServiceMessages
import ServiceProcess

/// The policy option: the file with the decisions that need no user.
struct PolicyOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            """
            The policy file, which decides which devices may pair and which apps may use Bluetooth when no user answers (default: \
            harald/policy in the configuration directory, if it exists). SIGHUP reloads it.
            """,
            valueName: "FILE"
        ),
        completion: .file()
    )
    var policy: String?

    /// Loads the policy file. Returns an empty policy if no file is named and the default one does not exist.
    func load() throws(ToolError) -> PolicyFile {
        let path = policy ?? StateDirectory.named("XDG_CONFIG_HOME", or: ".config") + "/harald/policy"
        guard policy != nil || FileManager.default.fileExists(atPath: path) else { return PolicyFile() }
        return try Self.read(path)
    }

    /// Reads a policy file. Rejects one that other users can write, because they could grant access to anyone.
    static func read(_ path: String) throws(ToolError) -> PolicyFile {
        let file: PlainFile
        do throws(PlainFile.Fault) {
            file = try PlainFile(path, atMost: PolicyFile.maximumOctets + 1)
        } catch {
            throw .service("cannot read \(path): \(error); choose another with --policy")
        }
        guard [0, getuid()].contains(file.owner), file.permissions & 0o022 == 0 else {
            throw .service("\(path) can be changed by other users; make it your own, with chmod 600")
        }
        do throws(PolicyError) {
            return try PolicyFile(parsing: file.octets)
        } catch {
            throw .service("\(path): \(error)")
        }
    }
}
