import BluetoothTypes
import HCI

/// A byte stream, such as a serial port or a socket, without packet boundaries. Use it on the event loop of its
/// Bluetooth system only. Like ``HCITransport``, it never calls a callback from within one of its own methods.
package protocol OctetLine: AnyObject {
    /// Called with octets as they arrive, split at any position.
    var onReceive: (([UInt8]) -> Void)? { get set }
    /// Called once when the stream has closed, with the reason.
    var onClose: ((HCITransportError) -> Void)? { get set }
    /// Where the other end is attached; see ``HCITransport/place``.
    var place: String { get }

    /// Sends octets. Does nothing after the stream has closed.
    func send(_ octets: PacketBuffer)
    /// Closes the stream, without a call of ``onClose``.
    func close()
}
