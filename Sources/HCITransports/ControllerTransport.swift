import HCI

/// The line to a controller that is named by an address. It opens by itself; what is sent meanwhile waits, and a controller that
/// cannot be reached closes it.
///
/// Lives on its loop.
package final class ControllerTransport: HCITransport {
    /// Packets that wait for the line to open. A host sends one command before it hears from the controller.
    package static let maximumWaiting = 16

    private enum State {
        case opening([HCIPacket])
        case open(any HCITransport)
        case closed
    }

    /// Takes each packet that arrives.
    package var onReceive: ((HCIPacket) -> Void)?
    /// Called once when the line is gone, or could not be opened.
    package var onClose: ((HCITransportError) -> Void)?
    package let place: String

    private var state = State.opening([])

    /// Begins to open the line. On the loop only.
    package init(_ address: ControllerAddress, loop: NIOEventLoop) {
        place = "\(address)"
        switch address {
        case .tcp(let host, let port):
            TCPTransport.connect(host: host, port: port, loop: loop) { [self] in opened($0) }
        }
    }

    private func opened(_ result: Result<TCPTransport, HCITransportError>) {
        guard case .opening(let waiting) = state else {
            if case .success(let transport) = result { transport.close() }
            return
        }
        switch result {
        case .failure(let error):
            closed(error)
        case .success(let transport):
            state = .open(transport)
            transport.onReceive = { [weak self] in self?.onReceive?($0) }
            transport.onClose = { [weak self] in self?.closed($0) }
            for packet in waiting { transport.send(packet) }
        }
    }

    private func closed(_ error: HCITransportError) {
        state = .closed
        onClose?(error)
    }

    /// Sends a packet, now or when the line is open.
    package func send(_ packet: HCIPacket) {
        switch state {
        case .opening(let waiting) where waiting.count < Self.maximumWaiting: state = .opening(waiting + [packet])
        case .open(let transport): transport.send(packet)
        case .opening, .closed: break
        }
    }

    /// Closes the line.
    package func close() {
        if case .open(let transport) = state { transport.close() }
        state = .closed
    }
}
