import CLinux
import Foundation
import HCITransports

/// The protocol between systemd and a service (sd_notify(3), sd_listen_fds(3), FILE_DESCRIPTOR_STORE). Does nothing
/// without systemd.
enum ServiceManager {
    /// The number of the first passed descriptor.
    private static let firstDescriptor: Int32 = 3
    /// The maximum number of passed descriptors. Two are expected: a socket and a controller.
    private static let maximumDescriptors: Int32 = 16
    /// The name of a kept controller's descriptor.
    private static let controllerName = "controller"

    /// The passed descriptors by name. Empty if they are for another process.
    private static let handedOver: [(name: String, descriptor: Int32)] = {
        let environment = ProcessInfo.processInfo.environment
        guard environment["LISTEN_PID"].flatMap({ Int32($0) }) == getpid(),
            let count = environment["LISTEN_FDS"].flatMap({ Int32($0) }), count > 0
        else { return [] }
        for name in ["LISTEN_PID", "LISTEN_FDS", "LISTEN_FDNAMES"] { unsetenv(name) }
        let names = (environment["LISTEN_FDNAMES"] ?? "").split(separator: ":", omittingEmptySubsequences: false)
        return (0..<min(count, maximumDescriptors)).map { index in
            // Programs that the service starts must not inherit them.
            _ = fcntl(firstDescriptor + index, F_SETFD, FD_CLOEXEC)
            let name = names.indices.contains(Int(index)) ? String(names[Int(index)]) : ""
            return (name, firstDescriptor + index)
        }
    }()

    /// The socket that the unit listens on; nil if there is none.
    static var listeningSocket: Int32? { handedOver.first { $0.name != controllerName }?.descriptor }

    /// The controller that the previous service held when it crashed; nil if there is none.
    static var keptController: Int32? { handedOver.first { $0.name == controllerName }?.descriptor }

    /// Stores a controller's descriptor until it is removed or the unit stops. While a crashed service restarts, no
    /// other program can claim the controller.
    static func keep(controller descriptor: Int32) { notify("FDSTORE=1\nFDNAME=\(controllerName)", descriptor) }

    static func forgetController() { notify("FDSTOREREMOVE=1\nFDNAME=\(controllerName)") }

    /// Returns the path that a Unix socket is bound to; nil if there is none.
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

    /// Sends a notification to systemd: one datagram, with a descriptor attached if there is one.
    static func notify(_ text: String, _ passed: Int32 = -1) {
        guard let path = ProcessInfo.processInfo.environment["NOTIFY_SOCKET"],
            path.hasPrefix("/") || path.hasPrefix("@")
        else { return }
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        var octets = Array(path.utf8)
        guard octets.count < MemoryLayout.size(ofValue: address.sun_path) else { return }
        // A leading @ stands for the zero octet of an abstract socket name (unix(7)).
        if octets[0] == UInt8(ascii: "@") { octets[0] = 0 }
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: octets) }
        let size = MemoryLayout<sockaddr_un>.offset(of: \.sun_path).map { $0 + octets.count } ?? 0
        let descriptor = socket(AF_UNIX, harald_SOCK_DGRAM | harald_SOCK_CLOEXEC, 0)
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

/// Keeps the service's adapter in systemd's descriptor store.
struct DescriptorStore: AdapterKeeper {
    func keep(_ socket: Int32) { ServiceManager.keep(controller: socket) }

    func forget() { ServiceManager.forgetController() }
}
