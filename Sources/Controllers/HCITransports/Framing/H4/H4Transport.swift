import BluetoothTypes
import HCI

/// The H4 transport: HCI over a reliable byte stream, with a type octet before each packet (Core Vol 4 Part A). Use it
/// on the event loop of its line only.
package final class H4Transport: HCITransport {
    package var onReceive: ((HCIPacket) -> Void)?
    /// Called once when the transport has closed; not after ``close()``.
    package var onClose: ((HCITransportError) -> Void)?
    package var place: String { line.place }

    private let line: any OctetLine
    private var parser: H4Parser
    private var isOpen = true

    /// Creates a transport and replaces the callbacks of `line`.
    ///
    /// - Parameters:
    ///   - line: The byte stream.
    ///   - isResynchronizing: Whether the stream may start within a packet; see ``H4Parser``.
    package init(_ line: any OctetLine, isResynchronizing: Bool = false) {
        self.line = line
        parser = H4Parser(isResynchronizing: isResynchronizing)
        line.onReceive = { [weak self] in self?.receive($0) }
        line.onClose = { [weak self] in self?.lost($0) }
    }

    package func send(_ packet: HCIPacket) {
        guard isOpen else { return }
        var octets = packet.bytes
        octets.prepend(packet.kind.rawValue)
        line.send(octets)
    }

    /// Closes the transport and its byte stream.
    package func close() {
        guard isOpen else { return }
        isOpen = false
        line.close()
    }

    private func receive(_ octets: [UInt8]) {
        for packet in parser.parse(octets) {
            guard isOpen else { return }
            onReceive?(packet)
        }
        if let failure = parser.failure { lost(.malformed(failure)) }
    }

    private func lost(_ error: HCITransportError) {
        guard isOpen else { return }
        close()
        onClose?(error)
    }
}

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
