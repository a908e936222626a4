import BluetoothTypes

/// A line that carries octets, and knows nothing of packets: a serial port, or a socket. Lives on the loop of its Bluetooth system,
/// and reports as ``HCITransport`` does: never from inside a call.
package protocol OctetLine: AnyObject {
    /// Takes octets in whatever pieces they come.
    var onReceive: (([UInt8]) -> Void)? { get set }
    /// Called once when the line is gone, with the reason.
    var onClose: ((HCITransportError) -> Void)? { get set }
    /// Where the other end is attached; see ``HCITransport/place``.
    var place: String { get }

    /// Sends octets. On a line that is gone nothing happens.
    func send(_ octets: PacketBuffer)
    /// Closes the line; ``onClose`` is not called for one's own closing.
    func close()
}
