import CLinux
import Foundation

/// The system calls of this machine's kernel.
package struct LinuxCalls: KernelCalls {
    /// Constants of `include/net/bluetooth/{bluetooth,hci_sock}.h`, which the C library lacks.
    private enum Number {
        static let family: Int32 = 31
        static let `protocol`: Int32 = 1
        static let deviceUp: UInt = 0x4004_48C9
        static let deviceDown: UInt = 0x4004_48CA
        /// `USBDEVFS_RESET` of `include/uapi/linux/usbdevice_fs.h`, which has no argument.
        static let portReset: UInt = 0x5514
        static let deviceList: UInt = 0x8004_48D2
        static let deviceInformation: UInt = 0x8004_48D3
        static let informationSize = 92
        /// The size of the list; the kernel assigns no higher numbers than fit in it.
        static let maximumAdapters = 64
    }

    /// `struct sockaddr_hci`.
    private struct Address {
        var family: UInt16 = UInt16(Number.family)
        var adapter: UInt16 = 0
        var channel: UInt16 = 0
    }

    private let isDevice: Bool

    /// - Parameter isDevice: Whether packets are written to a device file rather than a socket.
    package init(ofDevice isDevice: Bool = false) { self.isDevice = isDevice }

    package func openSocket() throws(ErrorNumber) -> Int32 {
        let flags = harald_SOCK_RAW | harald_SOCK_CLOEXEC | harald_SOCK_NONBLOCK
        return try Self.check(socket(Number.family, flags, Number.protocol))
    }

    package func bind(_ socket: Int32, to adapter: UInt16, channel: HCIChannel) throws(ErrorNumber) {
        var address = Address(adapter: adapter, channel: channel.rawValue)
        let size = socklen_t(MemoryLayout<Address>.size)
        _ = try Self.check(
            withUnsafeMutableBytes(of: &address) { octets in
                octets.withMemoryRebound(to: sockaddr.self) { Foundation.bind(socket, $0.baseAddress, size) }
            }
        )
    }

    package func takeDown(_ adapter: UInt16, by socket: Int32) throws(ErrorNumber) {
        _ = try Self.check(ioctl(socket, Number.deviceDown, Int32(adapter)))
    }

    package func bringUp(_ adapter: UInt16, by socket: Int32) throws(ErrorNumber) {
        _ = try Self.check(ioctl(socket, Number.deviceUp, Int32(adapter)))
    }

    package func resetPort(_ node: String) throws(ErrorNumber) {
        let file = try Self.check(open(node, O_WRONLY | O_CLOEXEC))
        defer { close(file) }
        _ = try Self.check(ioctl(file, Number.portReset, Int32(0)))
    }

    package func adapters(by socket: Int32) throws(ErrorNumber) -> [UInt16] {
        // A count, two octets of padding, then eight octets for each adapter, starting with its number.
        var list = [UInt16](repeating: 0, count: 2 + 4 * Number.maximumAdapters)
        list[0] = UInt16(Number.maximumAdapters)
        _ = try Self.check(list.withUnsafeMutableBytes { systemControl(socket, Number.deviceList, $0.baseAddress) })
        return (0..<min(Int(list[0]), Number.maximumAdapters)).map { list[2 + 4 * $0] }
    }

    package func information(on adapter: UInt16, by socket: Int32) throws(ErrorNumber) -> [UInt8] {
        // Aligned as the kernel expects. The adapter's number comes first.
        var words = [UInt32](repeating: 0, count: Number.informationSize / 4)
        words.withUnsafeMutableBytes { $0.storeBytes(of: adapter, as: UInt16.self) }
        _ = try Self.check(
            words.withUnsafeMutableBytes { systemControl(socket, Number.deviceInformation, $0.baseAddress) }
        )
        return words.withUnsafeBytes { Array($0) }
    }

    package func binding(of socket: Int32) -> HCIBinding? {
        var address = Address(family: 0)
        var size = socklen_t(MemoryLayout<Address>.size)
        let result = withUnsafeMutableBytes(of: &address) { octets in
            octets.withMemoryRebound(to: sockaddr.self) { getsockname(socket, $0.baseAddress, &size) }
        }
        guard result == 0, address.family == UInt16(Number.family), size >= MemoryLayout<Address>.size else {
            return nil
        }
        return HCIBinding(adapter: address.adapter, channel: address.channel)
    }

    package func wait(for socket: Int32, milliseconds: Int32) -> Bool {
        var entry = pollfd(fd: socket, events: Int16(POLLIN), revents: 0)
        return poll(&entry, 1, milliseconds) > 0
    }

    package func read(_ socket: Int32, atMost count: Int) throws(ErrorNumber) -> [UInt8] {
        var octets = [UInt8](repeating: 0, count: count)
        let length = try Self.check(octets.withUnsafeMutableBytes { Foundation.read(socket, $0.baseAddress, $0.count) })
        return Array(octets.prefix(length))
    }

    package func write(_ octets: [UInt8], to socket: Int32) throws(ErrorNumber) {
        // A packet must be a single write, which the kernel accepts whole or not at all.
        _ = try Self.check(
            octets.withUnsafeBytes {
                isDevice
                    ? Foundation.write(socket, $0.baseAddress, $0.count)
                    : send(socket, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
            }
        )
    }

    package func duplicate(_ socket: Int32) throws(ErrorNumber) -> Int32 {
        try Self.check(fcntl(socket, F_DUPFD_CLOEXEC, 3))
    }

    package func close(_ socket: Int32) { _ = Foundation.close(socket) }

    package func pause(milliseconds: UInt32) { usleep(milliseconds * 1_000) }

    private static func check<Result: SignedInteger>(_ call: @autoclosure () -> Result) throws(ErrorNumber) -> Result {
        while true {
            let result = call()
            if result >= 0 { return result }
            // Interrupted by a signal: retry.
            if errno != EINTR { throw ErrorNumber(errno) }
        }
    }
}

private func systemControl(_ socket: Int32, _ request: UInt, _ argument: UnsafeMutableRawPointer?) -> Int32 {
    guard let argument else { return -1 }
    return ioctl(socket, request, argument)
}
