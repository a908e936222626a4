import BluetoothTypes
import DequeModule
import EventLoops
import HCI

/// Distributes the controller's ACL data buffers among the connections (Core Vol 4 Part E 4.1.1).
///
/// Connections with pending data take turns and send one packet each. No connection gets a second buffer while the free
/// ones are needed for connections without any: packets to a peer out of range occupy their buffers until the
/// supervision timeout.
final class ACLSender {
    private let transmit: (HCIPacket) -> Void
    private var packetSize = 0
    private var capacity = 0
    private var free = 0
    // The number of connections without a packet in the controller's buffers, with or without pending data.
    private var turnsWithoutData = 0
    private var ring = Deque<ConnectionOutbox>()
    private var isPumping = false
    private let loop: any EventLoop
    /// Whether the owner is watching the data in the controller for progress.
    private var isWatched = false
    /// Called when data is sent to the controller while nothing watches its progress; the owner then does until
    /// ``endWatch()``.
    var onData: (() -> Void)?

    init(loop: any EventLoop, transmit: @escaping (HCIPacket) -> Void) {
        self.loop = loop
        self.transmit = transmit
    }

    /// The number of free buffers in the controller, by the host's count.
    var freeBuffers: Int { free }

    /// Removes all connections. The controller now has `capacity` buffers of `packetSize` octets, all free.
    func reset(packetSize: Int, capacity: Int) {
        self.packetSize = packetSize
        self.capacity = capacity
        free = capacity
        turnsWithoutData = 0
        isWatched = false
        ring.removeAll()
    }

    func endWatch() {
        isWatched = false
    }

    func add(_ outbox: ConnectionOutbox) {
        turnsWithoutData += 1
    }

    /// Removes a connection. Its packets no longer occupy the controller's buffers (Vol 4 Part E 4.3).
    func remove(_ outbox: ConnectionOutbox) {
        ring.removeAll { $0 === outbox }
        outbox.isInRing = false
        outbox.leftData = outbox.outstanding > 0
        _ = complete(outbox.outstanding, of: outbox)
        turnsWithoutData -= 1
        pump()
    }

    func wake(_ outbox: ConnectionOutbox) {
        if !outbox.isInRing, outbox.hasPackets {
            outbox.isInRing = true
            ring.append(outbox)
        }
        pump()
    }

    /// Returns buffers to the pool.
    ///
    /// - Returns: Whether the connection had that many packets outstanding. A larger count is clamped (AB-H01).
    func complete(_ count: Int, of outbox: ConnectionOutbox) -> Bool {
        let believed = min(count, outbox.outstanding)
        if believed > 0, believed == outbox.outstanding { turnsWithoutData += 1 }
        outbox.outstanding -= believed
        free += believed
        return believed == count
    }

    func pump() {
        guard !isPumping else { return }
        isPumping = true
        defer { isPumping = false }
        var passedOver = 0
        while free > 0, passedOver < ring.count, let outbox = ring.popFirst() {
            guard outbox.outstanding == 0 || free > turnsWithoutData else {
                ring.append(outbox)
                passedOver += 1
                continue
            }
            passedOver = 0
            sendOne(outbox)
        }
    }

    private func sendOne(_ outbox: ConnectionOutbox) {
        guard let (packet, endsPDU) = outbox.nextPacket(limit: packetSize) else {
            outbox.isInRing = false
            return
        }
        free -= 1
        if outbox.outstanding == 0 {
            turnsWithoutData -= 1
            outbox.waitsSince = loop.now
        }
        outbox.outstanding += 1
        if !isWatched {
            isWatched = true
            onData?()
        }
        if outbox.hasPackets {
            ring.append(outbox)
        } else {
            outbox.isInRing = false
        }
        transmit(packet)
        if endsPDU { outbox.onDrain?() }
    }
}

extension ACLSender {
    /// The first rule that is broken for the given connections, which are all that there are; nil if all hold.
    func brokenInvariant(for outboxes: [ConnectionOutbox]) -> String? {
        guard (0...max(capacity, 0)).contains(free) else { return "more buffers are free than the controller has" }
        let outstanding = outboxes.reduce(0) { $0 + $1.outstanding }
        guard free + outstanding == capacity else {
            return "\(free) free buffers and \(outstanding) packets in the controller, which has \(capacity) buffers"
        }
        guard turnsWithoutData == outboxes.count(where: { $0.outstanding == 0 }) else {
            return "the count of connections without a packet in the controller is wrong"
        }
        guard ring.count == outboxes.count(where: \.isInRing), ring.allSatisfy(\.hasPackets) else {
            return "the sender's ring and the connections with data differ"
        }
        return nil
    }
}

/// The data of a connection on its way to the controller: the queued PDUs, and the count of those in its buffers.
final class ConnectionOutbox {
    static let maximumQueuedPDUs = 1_024

    private let handle: ConnectionHandle
    private var queue = Deque<PacketBuffer>()
    private var isMidPDU = false
    private(set) var droppedPDUs = 0
    fileprivate(set) var outstanding = 0
    /// The time at which the first of them was sent, or at which the controller last returned a buffer.
    fileprivate(set) var waitsSince = Instant.zero
    /// Whether that wait has exceeded the time-out before.
    private var hasStalled = false
    /// Whether the controller held packets of the connection when it ended.
    fileprivate(set) var leftData = false
    fileprivate(set) var isInRing = false
    var onDrain: (() -> Void)?

    init(handle: ConnectionHandle) {
        self.handle = handle
    }

    var queuedPDUs: Int { queue.count }
    var hasPackets: Bool { !queue.isEmpty }

    /// Queues an L2CAP PDU.
    ///
    /// - Returns: False if it was dropped because the queue is full.
    func add(_ pdu: consuming PacketBuffer) -> Bool {
        guard queue.count < Self.maximumQueuedPDUs else {
            droppedPDUs += 1
            return false
        }
        queue.append(consume pdu)
        return true
    }

    /// Returns the next packet for the controller, with at most `limit` octets of payload, and whether a PDU ends with
    /// it.
    ///
    /// A PDU that fits is sent in place, with the header in its headroom. Only a PDU that must be fragmented is copied.
    fileprivate func nextPacket(limit: Int) -> (packet: HCIPacket, endsPDU: Bool)? {
        guard let pdu = queue.popFirst() else { return nil }
        let boundary: ACLPacket.Boundary = isMidPDU ? .continuation : .startNonFlushable
        if pdu.count <= limit {
            isMidPDU = false
            return (HCIPacket(ACLPacket(handle: handle, boundary: boundary, payload: consume pdu)), true)
        }
        isMidPDU = true
        let fragment = PacketBuffer(copying: pdu.prefix(upTo: limit), headroom: PacketBuffer.defaultHeadroom)
        queue.prepend(pdu.suffix(after: limit))
        return (HCIPacket(ACLPacket(handle: handle, boundary: boundary, payload: fragment)), false)
    }

    /// Drops the queue at the end of the connection.
    func close() {
        queue.removeAll()
        onDrain = nil
    }

    // MARK: Time-outs (AB-H06)

    /// Records that the controller has returned a buffer.
    func noteProgress(at now: Instant) {
        waitsSince = now
    }

    /// Whether the data has been in the controller since `instant` or earlier.
    func isStalled(since instant: Instant) -> Bool { outstanding > 0 && waitsSince <= instant }

    /// Records that the wait has been reported, and starts the next one.
    func noteStall(at now: Instant) {
        (waitsSince, hasStalled) = (now, true)
    }

    /// Whether the connection ended with data that had been in the controller since `instant` or earlier and was not
    /// reported as stalled before.
    func hasLeftData(since instant: Instant) -> Bool { leftData && !hasStalled && waitsSince <= instant }
}

/// The data path of one LE connection for the layers above HCI: whole L2CAP PDUs down, fragments up.
///
/// Use it on the event loop only; all callbacks run there.
package protocol ACLLink: AnyObject {
    /// The connection handle, which the controller may reuse after the link has ended.
    var handle: ConnectionHandle { get }

    /// Queues an L2CAP PDU, basic header included. The PDU is fragmented to the controller's buffer size and sent in
    /// order as buffers become free. Does nothing after the link has ended.
    func send(_ pdu: consuming PacketBuffer)

    /// The number of PDUs that wait, wholly or in part, for buffers of the controller.
    var queuedPDUs: Int { get }

    /// Called when a PDU has left the queue and there is space for another.
    var onDrain: (() -> Void)? { get set }

    /// Called with each fragment that arrives; `isStart` indicates whether a PDU begins with it (Core Vol 4 Part E
    /// 5.4.2).
    var onReceive: ((_ fragment: PacketBuffer, _ isStart: Bool) -> Void)? { get set }
}
