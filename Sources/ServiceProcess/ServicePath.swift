import Foundation

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#endif

/// Where services listen.
package enum ServicePath {
    /// The environment variable that names the socket of a service.
    package static let variable = "HARALD_SERVICE"
    /// The service of the machine.
    package static let ofMachine = "/run/harald/service"

    /// The service of the user: below the directory for what lives as long as the user is logged in (XDG Base Directory Specification);
    /// nil where there is no such directory.
    package static func ofUser(environment: [String: String] = ProcessInfo.processInfo.environment) -> String? {
        // A path that is not absolute does not count.
        environment["XDG_RUNTIME_DIR"].flatMap { $0.hasPrefix("/") ? $0 + "/harald/service" : nil }
    }

    /// Where a tool looks, one after the other: the socket that is named, else the one that the environment names, else the usual ones.
    package static func places(
        named: String?,
        environment: [String: String] = ProcessInfo.processInfo.environment
    ) -> [String] {
        if let named { return [named] }
        if let path = environment[variable], !path.isEmpty { return [path] }
        return [ofUser(environment: environment), ofMachine].compactMap(\.self)
    }

    /// Whether somebody listens at a path, and this process may connect there. A socket that a dead service has left is none; one
    /// with a full backlog is.
    package static func isListening(_ path: String) -> Bool { [0, EAGAIN].contains(knock(path)) }

    /// Whether a socket has no program that listens on it, of whatever kind.
    package static func isAbandoned(_ path: String) -> Bool { knock(path) == ECONNREFUSED }

    /// Connects and hangs up. Returns 0, or the error number of connect(2).
    private static func knock(_ path: String) -> Int32 {
        guard var address = sockaddr_un(path: path) else { return ENAMETOOLONG }
        // Without waiting for a program that accepts nobody.
        let kind = [SOCK_STREAM, SOCK_CLOEXEC, SOCK_NONBLOCK].map { Int32($0.rawValue) }.reduce(0, |)
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
    /// The address of a path; nil for one that is empty or too long.
    package init?(path: String) {
        self.init()
        sun_family = sa_family_t(AF_UNIX)
        let octets = Array(path.utf8)
        let capacity = MemoryLayout.size(ofValue: sun_path)
        guard !octets.isEmpty, octets.count < capacity, !octets.contains(0) else { return nil }
        withUnsafeMutableBytes(of: &sun_path) { $0.copyBytes(from: octets) }
    }
}
