import BluetoothTypes
import EventLoops
import HCI
import HCIHost

/// One end of an in-memory ACL link: what is sent here arrives at the other end, in fragments, through the loop.
package final class LoopbackLink: ACLLink {
    /// The same at both ends, and unused.
    package let handle = ConnectionHandle(rawValue: 1)
    /// Called with each fragment that arrives. Fragments that arrived earlier are delivered when this is set.
    package var onReceive: ((PacketBuffer, Bool) -> Void)? {
        didSet {
            guard let onReceive else { return }
            let fragments = unclaimed
            unclaimed = []
            for (fragment, isStart) in fragments { onReceive(fragment, isStart) }
        }
    }
    /// Called when a PDU has left the queue.
    package var onDrain: (() -> Void)?
    /// The number of PDUs that wait while the link is held.
    package var queuedPDUs: Int { queue.count }
    /// All PDUs that have left the queue, including the basic header.
    package private(set) var sent: [PacketBuffer] = []

    /// The maximum length of a fragment, in octets.
    package var fragmentLength = 251
    /// Whether nothing leaves the queue, as if the controller had no buffers.
    package var isHeld = false {
        didSet { if !isHeld { release(.max) } }
    }

    /// The number of PDUs that still leave before the link is held; nil for no limit.
    package var allowance: Int? {
        didSet { if allowance == 0 { isHeld = true } }
    }

    private let loop: any EventLoop
    private weak var peer: LoopbackLink?
    private var queue: [PacketBuffer] = []
    private var unclaimed: [(PacketBuffer, Bool)] = []

    private init(loop: any EventLoop) {
        self.loop = loop
    }

    /// Creates the two ends of one link.
    package static func pair(loop: any EventLoop) -> (LoopbackLink, LoopbackLink) {
        let first = LoopbackLink(loop: loop)
        let second = LoopbackLink(loop: loop)
        first.peer = second
        second.peer = first
        return (first, second)
    }

    /// Sends a PDU, or queues it while the link is held.
    package func send(_ pdu: PacketBuffer) {
        guard !isHeld else { return queue.append(pdu) }
        allowance = allowance.map { $0 - 1 }
        transmit(pdu)
    }

    /// Lets up to `count` PDUs go, including those that are queued meanwhile.
    package func release(_ count: Int) {
        var rest = count
        while rest > 0, !queue.isEmpty {
            rest -= 1
            transmit(queue.removeFirst())
            onDrain?()
        }
    }

    /// Delivers a whole PDU on `channel` to the other end.
    package func inject(_ payload: [UInt8], on channel: UInt16) {
        var pdu = PacketBuffer(copying: payload)
        pdu.prepend(integer: channel)
        pdu.prepend(integer: UInt16(payload.count))
        transmit(pdu)
    }

    private func transmit(_ pdu: PacketBuffer) {
        sent.append(pdu)
        var offset = 0
        repeat {
            let length = min(fragmentLength, pdu.count - offset)
            let fragment = pdu.slice(offset..<(offset + length))
            let isStart = offset == 0
            loop.execute { [weak peer] in peer?.receive(fragment, isStart) }
            offset += length
        } while offset < pdu.count
    }

    private func receive(_ fragment: PacketBuffer, _ isStart: Bool) {
        if let onReceive { onReceive(fragment, isStart) } else { unclaimed.append((fragment, isStart)) }
    }

    /// The PDUs sent since the last call, with their channels and without basic headers.
    package func takeSent() -> [(channel: UInt16, payload: [UInt8])] {
        defer { sent = [] }
        return sent.filter { $0.count >= 4 }
            .map { (UInt16($0[2]) | UInt16($0[3]) << 8, $0.suffix(after: 4).bytes) }
    }

    /// The PDUs sent on `channel` since the last call, without basic headers.
    package func takeSent(on channel: UInt16) -> [[UInt8]] {
        defer { sent = [] }
        return sent.filter { $0.count >= 4 && UInt16($0[2]) | UInt16($0[3]) << 8 == channel }
            .map { $0.suffix(after: 4).bytes }
    }
}
