import Foundation

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#endif

/// A USB port of this machine that has no wires: `vhci_hcd` of Linux. What is plugged in there is at the other end of a socket.
package enum VirtualPort {
    /// Why a device cannot be plugged in, and what to do.
    package enum Failure: Error, Hashable, Sendable {
        /// This kernel has no such ports.
        case noPorts
        /// This process may not.
        case noPermission
        /// Each port has a device.
        case allTaken
        /// The kernel says something else.
        case failed(asked: String, code: Int32)
    }

    /// Where the kernel shows the ports.
    package static let directory = "/sys/devices/platform/vhci_hcd.0"
    /// `VDEV_ST_NULL` of `drivers/usb/usbip/usbip_common.h`: nothing is plugged in.
    private static let free = 4
    /// `USB_SPEED_FULL` of `include/uapi/linux/usb/ch9.h`.
    private static let fullSpeed = 2
    /// A bus and a number of a device elsewhere, which nobody looks at.
    private static let device = 1 << 16 | 2

    /// Plugs a device in, and returns the end of the socket at which its side of USB/IP is to be spoken. Whoever closes it unplugs the device.
    package static func plug(in directory: String = directory) throws(Failure) -> Int32 {
        guard let status = FileManager.default.contents(atPath: "\(directory)/status") else { throw .noPorts }
        let ports = freePorts(String(decoding: status, as: UTF8.self))
        guard !ports.isEmpty else { throw .allTaken }
        let (own, other) = try socketPair()
        // The kernel keeps its end by itself.
        defer { close(other) }
        var failure = Failure.allTaken
        for port in ports {
            do throws(Failure) {
                try tell("\(port) \(other) \(device) \(fullSpeed)", to: "\(directory)/attach")
                return own
            } catch {
                failure = error
                // Somebody else has just taken it.
                if case .failed(_, EBUSY) = error { continue }
                break
            }
        }
        close(own)
        throw failure
    }

    /// The ports of USB 2 that have nothing, from lines like `hs  0000 004 000 00000000 000000 0-0`: kind, number, state.
    static func freePorts(_ status: String) -> [Int] {
        status.split(separator: "\n").compactMap { line in
            let fields = line.split(separator: " ")
            guard fields.count >= 3, fields[0] == "hs", Int(fields[2]) == free else { return nil }
            return Int(fields[1])
        }
    }

    private static func socketPair() throws(Failure) -> (own: Int32, other: Int32) {
        var ends: [Int32] = [-1, -1]
        let kind = Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue)
        guard socketpair(AF_UNIX, kind, 0, &ends) == 0 else { throw .failed(asked: "a pair of sockets", code: errno) }
        return (ends[0], ends[1])
    }

    private static func tell(_ text: String, to path: String) throws(Failure) {
        let file = open(path, O_WRONLY | O_CLOEXEC)
        guard file >= 0 else {
            throw [EACCES, EPERM].contains(errno) ? .noPermission : .failed(asked: path, code: errno)
        }
        defer { close(file) }
        // One line is one write.
        let octets = Array(text.utf8)
        guard write(file, octets, octets.count) == octets.count else { throw .failed(asked: path, code: errno) }
    }
}

extension VirtualPort.Failure: CustomStringConvertible {
    /// What happened, and what to do, for a person.
    package var description: String {
        switch self {
        case .noPorts:
            """
            this kernel has no USB ports without wires: load their module with modprobe vhci-hcd, which Debian has in its kernel, \
            Ubuntu in the package linux-modules-extra of the kernel
            """
        case .noPermission: "plugging a device into the kernel is for root: run this by sudo"
        case .allTaken: "each USB port without wires has a device; unplug one (usbip port, usbip detach)"
        case .failed(let asked, let code):
            "the kernel refuses the device: \(asked): \(String(cString: strerror(code))) (\(code)); its log may say more (dmesg)"
        }
    }
}
