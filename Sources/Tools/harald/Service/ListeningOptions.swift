import ArgumentParser
import Foundation
import ServiceProcess

/// The socket options of a service: its path, and which users may connect.
struct ListeningOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp("Listen at this path (default: harald/service in XDG_RUNTIME_DIR).", valueName: "SOCKET"),
        completion: .file()
    )
    var socket: String?

    @Option(help: ArgumentHelp("The permission bits of the socket, in octal.", valueName: "MODE"), transform: octal)
    var mode: UInt32 = 0o600

    @Option(help: ArgumentHelp("The name of the group that owns the socket.", valueName: "GROUP"))
    var group: String?

    @Flag(help: "Accept programs of other users, if the permission bits allow it.")
    var allUsers = false

    /// The socket that a service listens on.
    struct Socket {
        let descriptor: Int32
        let place: String
        /// Holds the lock of a socket that this process created.
        let bound: ListeningSocket?
    }

    var access: AccessRule { AccessRule(owner: getuid(), admitsOtherUsers: allUsers) }

    /// Returns the socket passed by the service manager, or creates one.
    func listen() throws(ToolError) -> Socket {
        if let descriptor = ServiceManager.listeningSocket {
            guard let path = ServiceManager.path(of: descriptor) else {
                throw .service("the socket of the unit has no path; set ListenStream= to an absolute path")
            }
            return Socket(descriptor: descriptor, place: path, bound: nil)
        }
        guard let path = socket ?? ServicePath.ofUser() else {
            throw .service("XDG_RUNTIME_DIR is not set; specify a path with --socket PATH")
        }
        do throws(ListeningSocket.Failure) {
            let bound = try ListeningSocket(path: path, mode: mode, group: try groupNumber())
            return Socket(descriptor: bound.descriptor, place: path, bound: bound)
        } catch {
            throw .service("\(error)")
        }
    }

    private func groupNumber() throws(ListeningSocket.Failure) -> UInt32? {
        guard let group else { return nil }
        guard let entry = getgrnam(group) else {
            throw ListeningSocket.Failure(
                "there is no group \"\(group)\"; create it with groupadd, or choose another with --group"
            )
        }
        return entry.pointee.gr_gid
    }
}

private func octal(_ text: String) throws -> UInt32 {
    guard let bits = UInt32(text, radix: 8), bits <= 0o777 else {
        throw ValidationError("--mode must be up to three octal digits, such as 660")
    }
    return bits
}
