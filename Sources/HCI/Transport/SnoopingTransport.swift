import EventLoops

/// A transport that shows every packet of another one to an observer, in the order in which they pass.
package final class SnoopingTransport: HCITransport {
    private let transport: any HCITransport
    private let end: HCIEnd
    private let loop: any EventLoop
    private let observe: (HCIPacket, HCIDirection, Instant) -> Void

    /// Takes each packet that arrives, after the observer has seen it.
    package var onReceive: ((HCIPacket) -> Void)?
    /// Called once when the line is gone.
    package var onClose: ((HCITransportError) -> Void)?
    /// Where the other one leads to.
    package var place: String { transport.place }
    /// What the other one takes.
    package var maximumACLPayload: Int? { transport.maximumACLPayload }
    package var isOpening: Bool { transport.isOpening }

    /// Puts itself in front of `transport`, whose callbacks it takes over.
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

    /// Shows the packet to the observer, then sends it.
    package func send(_ packet: HCIPacket) {
        observe(packet, end == .host ? .hostToController : .controllerToHost, loop.now)
        transport.send(packet)
    }

    /// Closes the line.
    package func close() {
        transport.close()
    }

    /// Has the other one reset its device.
    package func resetDevice(_ completion: @escaping (DeviceReset) -> Void) {
        transport.resetDevice(completion)
    }
}
