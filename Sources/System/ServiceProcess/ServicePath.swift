import CLinux
import Foundation

/// The paths of services.
package enum ServicePath {
    /// The environment variable that names the socket of a service.
    package static let variable = "HARALD_SERVICE"
    /// The service of the whole machine.
    package static let ofMachine = "/run/harald/service"

    /// The service of the user, in the runtime directory, which exists while the user is logged in (XDG Base Directory
    /// Specification). Nil if there is no such directory.
    package static func ofUser(environment: [String: String] = ProcessInfo.processInfo.environment) -> String? {
        // A relative path is invalid.
        environment["XDG_RUNTIME_DIR"].flatMap { $0.hasPrefix("/") ? $0 + "/harald/service" : nil }
    }

    /// The paths that a tool tries in turn: the given one, or else the one in the environment, or else the default
    /// ones.
    package static func places(
        named: String?,
        environment: [String: String] = ProcessInfo.processInfo.environment
    ) -> [String] {
        if let named { return [named] }
        if let path = environment[variable], !path.isEmpty { return [path] }
        return [ofUser(environment: environment), ofMachine].compactMap(\.self)
    }

    /// Whether a service is listening at a path where this process may connect. False for the abandoned socket of a
    /// dead service, and true for one whose backlog is full.
    package static func isListening(_ path: String) -> Bool { [0, EAGAIN].contains(probe(path)) }

    /// Whether a socket is abandoned: no program is listening on it.
    package static func isAbandoned(_ path: String) -> Bool { probe(path) == ECONNREFUSED }

    /// Connects and disconnects. Returns 0, or the error number of connect(2).
    private static func probe(_ path: String) -> Int32 {
        guard var address = sockaddr_un(path: path) else { return ENAMETOOLONG }
        // Non-blocking, so that a program that does not accept connections cannot delay this one.
        let kind = harald_SOCK_STREAM | harald_SOCK_CLOEXEC | harald_SOCK_NONBLOCK
        let descriptor = socket(AF_UNIX, kind, 0)
        guard descriptor >= 0 else { return errno }
        defer { close(descriptor) }
        let result = withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
            }
        }
        return result == 0 ? 0 : errno
    }
}

extension sockaddr_un {
    /// Creates the address of a path; nil if the path is empty or too long.
    package init?(path: String) {
        self.init()
        sun_family = sa_family_t(AF_UNIX)
        let octets = Array(path.utf8)
        let capacity = MemoryLayout.size(ofValue: sun_path)
        guard !octets.isEmpty, octets.count < capacity, !octets.contains(0) else { return nil }
        withUnsafeMutableBytes(of: &sun_path) { $0.copyBytes(from: octets) }
    }
}
