import BluetoothTypes
import DequeModule
import EventLoops

/// A transport between a host and a controller in the same process. Packets are delivered to the other end in a
/// separate task on the event loop, in order, so that no end is called from within its own call.
package final class InMemoryTransport: HCITransport {
    package var onReceive: ((HCIPacket) -> Void)?
    package var onClose: ((HCITransportError) -> Void)?
    package let place: String

    private let loop: any EventLoop
    private weak var peer: InMemoryTransport?
    private var isOpen = true
    private var arriving = Deque<HCIPacket>()

    private init(place: String, loop: any EventLoop) {
        self.place = place
        self.loop = loop
    }

    /// Returns the two ends of a new transport. The ends do not retain each other.
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

    package func send(_ packet: HCIPacket) {
        guard isOpen, let peer else { return }
        peer.arriving.append(packet)
        // A burst shares one task: packets sent before the first is delivered are delivered with it.
        guard peer.arriving.count == 1 else { return }
        loop.execute { [weak peer] in peer?.deliverArrived() }
    }

    /// Closes both ends. The other end is notified in a separate task.
    package func close() {
        guard isOpen else { return }
        isOpen = false
        arriving.removeAll()
        loop.execute { [weak peer] in peer?.closedByPeer() }
    }

    private func deliverArrived() {
        // Packets that arrive during delivery get a task of their own, after the tasks already due.
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
