import BluetoothTypes
import DequeModule
import EventLoops
import HCI

/// A connection of the host: its data path and its current parameters.
///
/// Use it on the event loop only. After the disconnection it keeps its last parameters and sends nothing.
package final class HCIConnection: ACLLink {
    /// The maximum number of queued PDUs. The layer above observes ``queuedPDUs`` to apply backpressure.
    package static let maximumQueuedPDUs = 1_024
    /// The maximum number of fragments kept until ``onReceive`` is set.
    static let maximumUnclaimedFragments = 16

    /// The connection handle, which the controller may reuse after the link has ended.
    package let handle: ConnectionHandle
    /// The role of this device.
    package let role: LERole
    /// The peer's identity address if the controller resolved it, else the address on the air.
    package let peerAddress: BluetoothAddress
    /// The peer's resolvable private address; nil unless the controller resolved it.
    package let peerResolvableAddress: BluetoothAddress?
    /// This device's resolvable private address; nil unless the controller generated it.
    package let localResolvableAddress: BluetoothAddress?

    /// The connection interval, in units of 1.25 ms.
    package internal(set) var interval: UInt16
    /// The subrate factor: the link uses every `subrateFactor`-th connection event (Core Vol 6 Part B 4.5.1).
    package internal(set) var subrateFactor: UInt16 = 1
    /// The peripheral latency: how many of the used connection events in a row the peripheral may skip.
    package internal(set) var latency: UInt16
    /// The supervision timeout, in units of 10 ms.
    package internal(set) var supervisionTimeout: UInt16
    /// The maximum link-layer payload for transmission, in octets.
    package internal(set) var maxTxOctets: UInt16 = 27
    /// The maximum link-layer payload for reception, in octets.
    package internal(set) var maxRxOctets: UInt16 = 27
    /// The PHY for transmission.
    package internal(set) var txPHY = LEPHY.le1M
    /// The PHY for reception.
    package internal(set) var rxPHY = LEPHY.le1M
    /// Whether the link is encrypted. True only after this host gave the controller a key for the link (AB-H05).
    package internal(set) var isEncrypted = false
    /// The size of the encryption key, in octets; nil unless the controller reports it with Encryption Change [v2].
    ///
    /// The link layer itself always uses 16 octets and does not store the size negotiated in pairing.
    package internal(set) var encryptionKeySize: Int?
    /// Whether the connection still exists.
    package internal(set) var isOpen = true

    /// Called after a change of the interval, subrate factor, latency, supervision timeout, PHYs or data lengths.
    package var onChange: (() -> Void)?

    /// Called when encryption has started, changed its key, ended or failed, after ``isEncrypted`` has changed. Not
    /// called for events that the host rejects (AB-H05).
    package var onEncryption: ((EncryptionReport) -> Void)?
    /// For a peripheral, called when the central starts encryption and the controller needs the key.
    ///
    /// The owner answers with ``LELongTermKeyRequestReply`` or ``LELongTermKeyRequestNegativeReply``. The host sends
    /// the negative reply if this is nil and there are no subscribers to ``LELongTermKeyRequest``.
    package var onLongTermKeyRequest: ((LELongTermKeyRequest) -> Void)?
    /// Called when no authenticated packet has arrived from the peer for the time set with
    /// ``WriteAuthenticatedPayloadTimeout``. The link stays up.
    package var onAuthenticatedPayloadTimeout: (() -> Void)?

    /// The origin of a connection (Core Vol 4 Part E 7.7.65.10).
    package enum Origin: Hashable, Sendable {
        /// Advertising, in either role.
        case advertising
        /// As central, a subevent of this device's own train, identified by its advertising set.
        case ownTrain(set: UInt8)
        /// As peripheral, a subevent of a train to which this device is synchronized.
        case followedTrain(sync: UInt16)

        init(_ event: LEEnhancedConnectionCompleteV2) {
            if event.v1.role == .central, event.set != 0xFF {
                self = .ownTrain(set: event.set)
            } else if event.v1.role == .peripheral, event.syncHandle != 0xFFFF {
                self = .followedTrain(sync: event.syncHandle)
            } else {
                self = .advertising
            }
        }
    }

    /// How the connection was established.
    package let origin: Origin

    /// The number of keys that the host gave the controller for this link and whose outcome is pending.
    var keysGiven = 0
    /// Data held until the outcome is reported.
    var hold = EncryptionHold()
    var holdTimer: ScheduledTask?

    /// Called with the number of packets consumed when ``onReceive`` is set after they arrived.
    var onClaim: ((Int) -> Void)?

    /// The number of PDUs dropped because the queue was full.
    package private(set) var droppedPDUs = 0

    private var queue = Deque<PacketBuffer>()
    private var isMidPDU = false
    /// The number of packets in the controller's buffers.
    var outstanding = 0
    /// The time at which the first of them was sent, or at which the controller last returned a buffer.
    var waitsSince = Instant.zero
    /// Whether that wait has exceeded the time-out before.
    var hasStalled = false
    /// Whether the controller held packets of the connection when it ended.
    var leftData = false
    /// Whether the connection is in the sender's ring.
    var isInRing = false

    private var unclaimed: [(fragment: PacketBuffer, isStart: Bool)] = []
    // Nil after the connection has ended. Until then the sender and the connection may retain each other.
    private var sender: ACLSender?

    init(_ event: LEEnhancedConnectionComplete, _ origin: Origin = .advertising, sender: ACLSender) {
        self.origin = origin
        handle = event.handle
        role = event.role
        peerAddress = event.peerAddress
        peerResolvableAddress = event.peerResolvableAddress.value == 0 ? nil : event.peerResolvableAddress
        localResolvableAddress = event.localResolvableAddress.value == 0 ? nil : event.localResolvableAddress
        interval = event.interval
        latency = event.latency
        supervisionTimeout = event.supervisionTimeout
        self.sender = sender
    }

    /// Called when a PDU has left the queue and there is space for another.
    package var onDrain: (() -> Void)?

    /// Called with each fragment that arrives. Fragments that arrived before are delivered as soon as this is set.
    package var onReceive: ((_ fragment: PacketBuffer, _ isStart: Bool) -> Void)? {
        didSet {
            guard let onReceive, !unclaimed.isEmpty else { return }
            let fragments = unclaimed
            unclaimed = []
            for (fragment, isStart) in fragments { onReceive(fragment, isStart) }
            onClaim?(fragments.count)
        }
    }

    /// The number of PDUs that wait, wholly or in part, for buffers of the controller.
    package var queuedPDUs: Int { queue.count }

    /// Queues an L2CAP PDU. If ``maximumQueuedPDUs`` PDUs are queued, drops it and increments ``droppedPDUs``.
    package func send(_ pdu: consuming PacketBuffer) {
        guard isOpen, !pdu.isEmpty else { return }
        guard queue.count < Self.maximumQueuedPDUs else {
            droppedPDUs += 1
            return
        }
        queue.append(consume pdu)
        sender?.wake(self)
    }

    var hasPackets: Bool { !queue.isEmpty }

    /// Returns the next packet for the controller, with at most `limit` octets of payload, and whether a PDU ends with
    /// it.
    ///
    /// A PDU that fits is sent in place, with the header in its headroom. Only a PDU that must be fragmented is copied.
    func nextPacket(limit: Int) -> (packet: HCIPacket, endsPDU: Bool)? {
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

    /// Handles a packet from the peer.
    ///
    /// - Returns: Whether the host has consumed the packet. False if it is kept until ``onReceive`` is set.
    func receive(_ packet: ACLPacket) -> Bool {
        if let onReceive {
            onReceive(packet.payload, packet.boundary.isStart)
        } else if unclaimed.count < Self.maximumUnclaimedFragments {
            unclaimed.append((packet.payload, packet.boundary.isStart))
            return false
        }
        return true
    }

    func close() {
        isOpen = false
        _ = hold.end()
        queue.removeAll()
        unclaimed = []
        onReceive = nil
        onDrain = nil
        onEncryption = nil
        onLongTermKeyRequest = nil
        onAuthenticatedPayloadTimeout = nil
        onClaim = nil
        sender = nil
    }
}
