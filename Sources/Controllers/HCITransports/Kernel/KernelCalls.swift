/// The system calls about Bluetooth adapters, one function each. Tests substitute another kernel.
package protocol KernelCalls: Sendable {
    /// Opens a raw, non-blocking HCI socket.
    func openSocket() throws(ErrorNumber) -> Int32
    /// Binds a socket to a channel of an adapter.
    func bind(_ socket: Int32, to adapter: UInt16, channel: HCIChannel) throws(ErrorNumber)
    /// Takes an adapter down, which stops the kernel's own use of it (HCIDEVDOWN).
    func takeDown(_ adapter: UInt16, by socket: Int32) throws(ErrorNumber)
    /// Brings an adapter up: the driver and the kernel's own host initialize it (HCIDEVUP).
    func bringUp(_ adapter: UInt16, by socket: Int32) throws(ErrorNumber)
    /// Resets the port of a USB device (USBDEVFS_RESET).
    ///
    /// - Parameter node: The device node, such as `/dev/bus/usb/001/002`.
    func resetPort(_ node: String) throws(ErrorNumber)
    /// Returns the numbers of all adapters (HCIGETDEVLIST).
    func adapters(by socket: Int32) throws(ErrorNumber) -> [UInt16]
    /// Returns the `struct hci_dev_info` of an adapter (HCIGETDEVINFO).
    func information(on adapter: UInt16, by socket: Int32) throws(ErrorNumber) -> [UInt8]
    /// Returns what a socket is bound to (getsockname); nil if it is no HCI socket.
    func binding(of socket: Int32) -> HCIBinding?
    /// Waits until the socket is readable or the time has elapsed. Returns whether it is readable.
    func wait(for socket: Int32, milliseconds: Int32) -> Bool
    /// Reads one packet. Empty at the end of the stream.
    func read(_ socket: Int32, atMost count: Int) throws(ErrorNumber) -> [UInt8]
    /// Writes one packet, whole or not at all.
    func write(_ octets: [UInt8], to socket: Int32) throws(ErrorNumber)
    /// Returns a second descriptor of the same socket.
    func duplicate(_ socket: Int32) throws(ErrorNumber) -> Int32
    func close(_ socket: Int32)
    /// Blocks the calling thread for this time.
    func pause(milliseconds: UInt32)
}

/// A channel of an HCI socket (`include/net/bluetooth/hci_sock.h` of Linux).
package enum HCIChannel: UInt16, Sendable {
    /// Exclusive access to the adapter, without the kernel's own host.
    case user = 1
    /// The channel of Bluetooth management commands.
    case control = 3
}

/// The adapter and channel that an HCI socket is bound to.
package struct HCIBinding: Hashable, Sendable {
    /// The N of `hciN`.
    package var adapter: UInt16
    /// The raw channel number, see ``HCIChannel``.
    package var channel: UInt16

    package init(adapter: UInt16, channel: UInt16) {
        self.adapter = adapter
        self.channel = channel
    }
}

/// The error of a failed system call.
package struct ErrorNumber: Error, Hashable, Sendable {
    /// The value of `errno`.
    package var code: Int32

    package init(_ code: Int32) { self.code = code }
}
