/// What the kernel is asked about its Bluetooth adapters: each function is one system call. Tests put another kernel in its place.
package protocol KernelCalls: Sendable {
    /// A raw HCI socket that nobody waits for.
    func openSocket() throws(ErrorNumber) -> Int32
    /// Binds a socket to a channel of an adapter.
    func bind(_ socket: Int32, to adapter: UInt16, channel: HCIChannel) throws(ErrorNumber)
    /// Ends what the kernel itself does with an adapter (HCIDEVDOWN).
    func takeDown(_ adapter: UInt16, by socket: Int32) throws(ErrorNumber)
    /// Has the kernel's own host bring an adapter up, from its driver on (HCIDEVUP).
    func bringUp(_ adapter: UInt16, by socket: Int32) throws(ErrorNumber)
    /// Resets the port that a device on USB is plugged into (USBDEVFS_RESET).
    ///
    /// - Parameter node: The file of the device: `/dev/bus/usb/001/002`.
    func resetPort(_ node: String) throws(ErrorNumber)
    /// The numbers of all adapters (HCIGETDEVLIST).
    func adapters(by socket: Int32) throws(ErrorNumber) -> [UInt16]
    /// What the kernel knows of an adapter (HCIGETDEVINFO), as `struct hci_dev_info` has it.
    func information(on adapter: UInt16, by socket: Int32) throws(ErrorNumber) -> [UInt8]
    /// What a socket is bound to (getsockname); nil for one that is no HCI socket.
    func binding(of socket: Int32) -> HCIBinding?
    /// Waits until there is something to read, at most so long.
    func wait(for socket: Int32, milliseconds: Int32) -> Bool
    /// Reads one packet.
    func read(_ socket: Int32, atMost count: Int) throws(ErrorNumber) -> [UInt8]
    /// Writes one packet.
    func write(_ octets: [UInt8], to socket: Int32) throws(ErrorNumber)
    /// A second descriptor of the same socket.
    func duplicate(_ socket: Int32) throws(ErrorNumber) -> Int32
    /// Ends the use of a descriptor.
    func close(_ socket: Int32)
    /// Lets time pass.
    func pause(milliseconds: UInt32)
}

/// What an HCI socket is for (`include/net/bluetooth/hci_sock.h` of Linux).
package enum HCIChannel: UInt16, Sendable {
    /// The adapter as a whole, for one process, without the kernel's own host.
    case user = 1
    /// Bluetooth management.
    case control = 3
}

/// What an HCI socket is bound to.
package struct HCIBinding: Hashable, Sendable {
    /// The number of the adapter.
    package var adapter: UInt16
    /// The number of the channel.
    package var channel: UInt16

    /// The given values.
    package init(adapter: UInt16, channel: UInt16) {
        self.adapter = adapter
        self.channel = channel
    }
}

/// The number by which a system call says why it failed.
package struct ErrorNumber: Error, Hashable, Sendable {
    /// `errno`.
    package var code: Int32

    /// The given number.
    package init(_ code: Int32) { self.code = code }
}
