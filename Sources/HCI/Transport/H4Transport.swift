import BluetoothTypes

/// HCI over a line that loses nothing: each packet behind an octet for its type (Core Vol 4 Part A). Lives on the loop of its line.
package final class H4Transport: HCITransport {
    /// Takes each packet that arrives.
    package var onReceive: ((HCIPacket) -> Void)?
    /// Called once when the line is gone.
    package var onClose: ((HCITransportError) -> Void)?
    package var place: String { line.place }

    private let line: any OctetLine
    private var parser: H4Parser
    private var isOpen = true

    /// - Parameter isResynchronizing: Whether octets may have come before that are the rest of something; see ``H4Parser``.
    package init(_ line: any OctetLine, isResynchronizing: Bool = false) {
        self.line = line
        parser = H4Parser(isResynchronizing: isResynchronizing)
        line.onReceive = { [weak self] in self?.receive($0) }
        line.onClose = { [weak self] in self?.lost($0) }
    }

    /// Sends a packet.
    package func send(_ packet: HCIPacket) {
        guard isOpen else { return }
        var octets = packet.bytes
        octets.prepend(packet.kind.rawValue)
        line.send(octets)
    }

    /// Closes the line.
    package func close() {
        guard isOpen else { return }
        isOpen = false
        line.close()
    }

    private func receive(_ octets: [UInt8]) {
        for packet in parser.take(octets) {
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
