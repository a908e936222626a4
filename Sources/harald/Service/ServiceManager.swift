import Foundation

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#endif

/// What systemd and a service say to each other (sd_notify(3), sd_listen_fds(3)), where there is one.
enum ServiceManager {
    /// The number of the first descriptor that is handed over.
    private static let firstDescriptor: Int32 = 3

    /// The socket that the unit of the service listens on; nil when there is none, or it is for another process.
    static let listeningSocket: Int32? = {
        let environment = ProcessInfo.processInfo.environment
        guard environment["LISTEN_PID"].flatMap({ Int32($0) }) == getpid(),
            let count = environment["LISTEN_FDS"].flatMap({ Int32($0) }), count > 0
        else { return nil }
        unsetenv("LISTEN_PID")
        unsetenv("LISTEN_FDS")
        // Programs that the service starts have nothing to do with it.
        _ = fcntl(firstDescriptor, F_SETFD, FD_CLOEXEC)
        return firstDescriptor
    }()

    /// The path that a socket is bound to; nil for one without.
    static func path(of descriptor: Int32) -> String? {
        var address = sockaddr_un()
        var size = socklen_t(MemoryLayout<sockaddr_un>.size)
        let isKnown = withUnsafeMutablePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { getsockname(descriptor, $0, &size) == 0 }
        }
        guard isKnown, address.sun_family == sa_family_t(AF_UNIX) else { return nil }
        let octets = withUnsafeBytes(of: &address.sun_path) { Array($0.prefix { $0 != 0 }) }
        return octets.isEmpty ? nil : String(decoding: octets, as: UTF8.self)
    }

    /// Says how the service is. One datagram, as the protocol has it.
    static func tell(_ text: String) {
        guard let path = ProcessInfo.processInfo.environment["NOTIFY_SOCKET"],
            path.hasPrefix("/") || path.hasPrefix("@")
        else { return }
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        var octets = Array(path.utf8)
        guard octets.count < MemoryLayout.size(ofValue: address.sun_path) else { return }
        // A name that begins so is one without a file (unix(7)).
        if octets[0] == UInt8(ascii: "@") { octets[0] = 0 }
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: octets) }
        let size = MemoryLayout<sockaddr_un>.offset(of: \.sun_path).map { $0 + octets.count } ?? 0
        let descriptor = socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        guard descriptor >= 0 else { return }
        defer { close(descriptor) }
        let message = Array(text.utf8)
        _ = withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                sendto(descriptor, message, message.count, Int32(MSG_NOSIGNAL), $0, socklen_t(size))
            }
        }
    }
}
