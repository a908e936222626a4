import CLinux
import Foundation

/// A virtual USB port of this machine (`vhci_hcd` of Linux). The device plugged into it is at the other end of a
/// socket.
package enum VirtualPort {
    /// The reason why a device cannot be plugged in. Its description says what to do.
    package enum Failure: Error, Hashable, Sendable {
        /// The kernel has no virtual ports.
        case noPorts
        /// This process lacks the permission.
        case noPermission
        /// Every port is occupied.
        case allTaken
        /// The kernel reports another error.
        case failed(asked: String, code: Int32)
    }

    /// The sysfs directory of the ports.
    package static let directory = "/sys/devices/platform/vhci_hcd.0"
    /// `VDEV_ST_NULL` of `drivers/usb/usbip/usbip_common.h`: the port is free.
    private static let free = 4
    /// `USB_SPEED_FULL` of `include/uapi/linux/usb/ch9.h`: 12 Mbit/s.
    private static let fullSpeed = 2
    /// The bus and device number on the exporting machine, whose values do not matter.
    private static let device = 1 << 16 | 2

    /// Plugs in a device.
    ///
    /// - Returns: The socket over which the device speaks USB/IP. Closing it unplugs the device.
    package static func plug(in directory: String = directory) throws(Failure) -> Int32 {
        guard let status = FileManager.default.contents(atPath: "\(directory)/status") else { throw .noPorts }
        let ports = freePorts(String(decoding: status, as: UTF8.self))
        guard !ports.isEmpty else { throw .allTaken }
        let (own, other) = try socketPair()
        // The kernel holds its own reference to its end.
        defer { close(other) }
        var failure = Failure.allTaken
        for port in ports {
            do throws(Failure) {
                try writeAttribute("\(port) \(other) \(device) \(fullSpeed)", to: "\(directory)/attach")
                return own
            } catch {
                failure = error
                // Another process took the port first.
                if case .failed(_, EBUSY) = error { continue }
                break
            }
        }
        close(own)
        throw failure
    }

    /// Returns the free USB 2 ports, from lines like `hs 0000 004 000 00000000 000000 0-0`: kind, number, state.
    static func freePorts(_ status: String) -> [Int] {
        status.split(separator: "\n").compactMap { line in
            let fields = line.split(separator: " ")
            guard fields.count >= 3, fields[0] == "hs", Int(fields[2]) == free else { return nil }
            return Int(fields[1])
        }
    }

    private static func socketPair() throws(Failure) -> (own: Int32, other: Int32) {
        var ends: [Int32] = [-1, -1]
        guard socketpair(AF_UNIX, harald_SOCK_STREAM | harald_SOCK_CLOEXEC, 0, &ends) == 0 else {
            throw .failed(asked: "creating a socket pair", code: errno)
        }
        return (ends[0], ends[1])
    }

    private static func writeAttribute(_ text: String, to path: String) throws(Failure) {
        let file = open(path, O_WRONLY | O_CLOEXEC)
        guard file >= 0 else {
            throw [EACCES, EPERM].contains(errno) ? .noPermission : .failed(asked: path, code: errno)
        }
        defer { close(file) }
        // The kernel expects the line in a single write.
        let octets = Array(text.utf8)
        guard write(file, octets, octets.count) == octets.count else { throw .failed(asked: path, code: errno) }
    }
}

extension VirtualPort.Failure: CustomStringConvertible {
    /// The failure and its remedy, in words for the user.
    package var description: String {
        switch self {
        case .noPorts:
            """
            the kernel has no virtual USB ports: load the module with modprobe vhci-hcd, which is part of Debian's kernel and of \
            Ubuntu's package linux-modules-extra
            """
        case .noPermission: "attaching a device to the kernel requires root: run this with sudo"
        case .allTaken: "every virtual USB port is in use; free one (usbip port, usbip detach)"
        case .failed(let asked, let code):
            "the kernel rejected the device: \(asked): \(String(cString: strerror(code))) (\(code)); see the kernel log (dmesg)"
        }
    }
}
