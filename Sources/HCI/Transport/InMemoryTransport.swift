import BluetoothTypes
import DequeModule
import EventLoops

/// A line between a host and a controller of the same process. What one end sends the other receives in a task of its own
/// on the loop, in order, so that neither is called from inside its own call.
package final class InMemoryTransport: HCITransport {
    /// Takes each packet that arrives.
    package var onReceive: ((HCIPacket) -> Void)?
    /// Called once when the other end has closed the line.
    package var onClose: ((HCITransportError) -> Void)?
    /// What whoever made the line calls it.
    package let place: String

    private let loop: any EventLoop
    private weak var peer: InMemoryTransport?
    private var isOpen = true
    private var arriving = Deque<HCIPacket>()

    private init(place: String, loop: any EventLoop) {
        self.place = place
        self.loop = loop
    }

    /// Two ends of one line, alike but for who holds them. Each lives as long as its holder keeps it.
    package static func pair(
        loop: any EventLoop,
        place: String = "memory"
    ) -> (host: InMemoryTransport, controller: InMemoryTransport) {
        let host = InMemoryTransport(place: place, loop: loop)
        let controller = InMemoryTransport(place: place, loop: loop)
        host.peer = controller
        controller.peer = host
        return (host, controller)
    }

    /// Sends a packet to the other end.
    package func send(_ packet: HCIPacket) {
        guard isOpen, let peer else { return }
        peer.arriving.append(packet)
        // One task for a burst: a second packet before the first is taken rides along.
        guard peer.arriving.count == 1 else { return }
        loop.execute { [weak peer] in peer?.takeArrived() }
    }

    /// Closes the line at both ends.
    package func close() {
        guard isOpen else { return }
        isOpen = false
        arriving.removeAll()
        loop.execute { [weak peer] in peer?.closedByPeer() }
    }

    private func takeArrived() {
        // What arrives while these are taken comes in a task of its own, after what is already due.
        var batch = Deque<HCIPacket>()
        swap(&batch, &arriving)
        for packet in batch {
            guard isOpen else { return }
            onReceive?(packet)
        }
    }

    private func closedByPeer() {
        guard isOpen else { return }
        isOpen = false
        onClose?(.closedByPeer)
    }
}
