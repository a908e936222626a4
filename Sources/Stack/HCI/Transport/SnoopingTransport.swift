import EventLoops

/// A transport that forwards to another one and passes every packet to an observer, in the order of transmission.
package final class SnoopingTransport: HCITransport {
    private let transport: any HCITransport
    private let end: HCIEnd
    private let loop: any EventLoop
    private let observe: (HCIPacket, HCIDirection, Instant) -> Void

    /// Called with each packet that arrives, after the observer.
    package var onReceive: ((HCIPacket) -> Void)?
    package var onClose: ((HCITransportError) -> Void)?
    package var place: String { transport.place }
    package var maximumACLPayload: Int? { transport.maximumACLPayload }
    package var isOpening: Bool { transport.isOpening }

    /// Creates a transport that forwards to `transport`, whose callbacks it replaces.
    ///
    /// - Parameters:
    ///   - transport: The underlying transport.
    ///   - end: The end that `transport` is, which determines the direction of packets.
    ///   - loop: The event loop of `transport`, whose clock provides the time of each packet.
    ///   - observe: Called with each packet, its direction and its time.
    package init(
        _ transport: any HCITransport,
        end: HCIEnd,
        loop: any EventLoop,
        observe: @escaping (HCIPacket, HCIDirection, Instant) -> Void
    ) {
        self.transport = transport
        self.end = end
        self.loop = loop
        self.observe = observe
        transport.onReceive = { [weak self] packet in
            guard let self else { return }
            self.observe(packet, end == .host ? .controllerToHost : .hostToController, self.loop.now)
            onReceive?(packet)
        }
        transport.onClose = { [weak self] in self?.onClose?($0) }
    }

    /// Passes the packet to the observer, then sends it.
    package func send(_ packet: HCIPacket) {
        observe(packet, end == .host ? .hostToController : .controllerToHost, loop.now)
        transport.send(packet)
    }

    package func close() {
        transport.close()
    }

    package func resetDevice(_ completion: @escaping (DeviceReset) -> Void) {
        transport.resetDevice(completion)
    }
}

/// An end of a transport between a host and a controller.
package enum HCIEnd: Sendable {
    /// The host's end; packets are sent to the controller.
    case host
    /// The controller's end; packets are sent to the host.
    case controller
}
