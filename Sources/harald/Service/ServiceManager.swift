import CLinux
import Foundation
import HCITransports

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#endif

/// What systemd and a service say to each other (sd_notify(3), sd_listen_fds(3), FILE_DESCRIPTOR_STORE), where there is one.
enum ServiceManager {
    /// The number of the first descriptor that is handed over.
    private static let firstDescriptor: Int32 = 3
    /// Descriptors that are taken over, at most: a socket, and a controller.
    private static let maximumDescriptors: Int32 = 16
    /// What the descriptor of a controller is called that is kept for the next service.
    private static let controllerName = "controller"

    /// What was handed over, by name; nothing where it is for another process.
    private static let handedOver: [(name: String, descriptor: Int32)] = {
        let environment = ProcessInfo.processInfo.environment
        guard environment["LISTEN_PID"].flatMap({ Int32($0) }) == getpid(),
            let count = environment["LISTEN_FDS"].flatMap({ Int32($0) }), count > 0
        else { return [] }
        for name in ["LISTEN_PID", "LISTEN_FDS", "LISTEN_FDNAMES"] { unsetenv(name) }
        let names = (environment["LISTEN_FDNAMES"] ?? "").split(separator: ":", omittingEmptySubsequences: false)
        return (0..<min(count, maximumDescriptors)).map { index in
            // Programs that the service starts have nothing to do with it.
            _ = fcntl(firstDescriptor + index, F_SETFD, FD_CLOEXEC)
            let name = names.indices.contains(Int(index)) ? String(names[Int(index)]) : ""
            return (name, firstDescriptor + index)
        }
    }()

    /// The socket that the unit of the service listens on; nil when there is none.
    static var listeningSocket: Int32? { handedOver.first { $0.name != controllerName }?.descriptor }

    /// The controller that the service before this one had when it crashed; nil when there is none.
    static var keptController: Int32? { handedOver.first { $0.name == controllerName }?.descriptor }

    /// Has a controller kept until it is forgotten, or the unit is stopped: so nobody takes it while a service that has crashed is started
    /// again.
    static func keep(controller descriptor: Int32) { tell("FDSTORE=1\nFDNAME=\(controllerName)", descriptor) }

    /// Has it kept no more.
    static func forgetController() { tell("FDSTOREREMOVE=1\nFDNAME=\(controllerName)") }

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

    /// Says how the service is. One datagram, as the protocol has it, and a descriptor beside it if there is one.
    static func tell(_ text: String, _ passed: Int32 = -1) {
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
                harald_send_with_descriptor(descriptor, message, message.count, $0, socklen_t(size), passed)
            }
        }
    }
}

/// The descriptor store of systemd as a place for the adapter that a service has.
struct DescriptorStore: AdapterKeeper {
    func keep(_ socket: Int32) { ServiceManager.keep(controller: socket) }

    func forget() { ServiceManager.forgetController() }
}
