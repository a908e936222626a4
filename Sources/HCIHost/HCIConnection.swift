import BluetoothTypes
import DequeModule
import EventLoops
import HCI

/// A connection as the host knows it: its data path and its present parameters.
///
/// Lives on the loop. After the disconnection it stays as it was, and sends nothing.
package final class HCIConnection: ACLLink {
    /// PDUs that may wait; the layer above looks at ``queuedPDUs`` and sends no more.
    package static let maximumQueuedPDUs = 1_024
    /// Fragments that are kept until somebody takes them with ``onReceive``.
    static let maximumUnclaimedFragments = 16

    /// The connection's number at the controller.
    package let handle: ConnectionHandle
    /// Which end this device is.
    package let role: LERole
    /// The peer: its identity when the controller resolved the address, else the address on the air.
    package let peerAddress: BluetoothAddress
    /// The private address that the peer used, when the controller resolved it.
    package let peerResolvableAddress: BluetoothAddress?
    /// The private address that this device used, when the controller made it.
    package let localResolvableAddress: BluetoothAddress?

    /// The connection interval in units of 1.25 ms.
    package internal(set) var interval: UInt16
    /// One of so many connection events is used (Core Vol 6 Part B 4.5.1).
    package internal(set) var subrateFactor: UInt16 = 1
    /// How many of the connection events that are used the peripheral may leave out in a row.
    package internal(set) var latency: UInt16
    /// How long silence is borne, in units of 10 ms.
    package internal(set) var supervisionTimeout: UInt16
    /// The longest link-layer payload that is sent, in octets.
    package internal(set) var maxTxOctets: UInt16 = 27
    /// The longest link-layer payload that is received, in octets.
    package internal(set) var maxRxOctets: UInt16 = 27
    /// The PHY for sending.
    package internal(set) var txPHY = LEPHY.le1M
    /// The PHY for receiving.
    package internal(set) var rxPHY = LEPHY.le1M
    /// Whether the link is encrypted. It only becomes so after this host gave a key for it (AB-H05).
    package internal(set) var isEncrypted = false
    /// Octets of the key that the link is encrypted under, if the controller has told: it knows Encryption Change [v2].
    /// A link layer always uses 16, and does not know how many of them were agreed upon in pairing.
    package internal(set) var encryptionKeySize: Int?
    /// Whether the connection is still there.
    package internal(set) var isOpen = true

    /// Called when the interval, the subrate, the latency, the timeout, a PHY or a length of data has been set.
    package var onChange: (() -> Void)?

    /// Called when the encryption of the link has begun, changed its key, ended or failed, after ``isEncrypted`` has
    /// changed. What the host does not believe does not come here (AB-H05).
    package var onEncryption: ((EncryptionReport) -> Void)?
    /// Called when the peer wants to encrypt the link and the controller needs the key, for a peripheral. The owner answers
    /// with ``LELongTermKeyRequestReply`` or ``LELongTermKeyRequestNegativeReply``; while nobody has set this or
    /// subscribed to ``LELongTermKeyRequest``, the host answers with the latter.
    package var onLongTermKeyRequest: ((LELongTermKeyRequest) -> Void)?
    /// Called when no authenticated packet has come from the peer for the time that
    /// ``WriteAuthenticatedPayloadTimeout`` sets. The link lives on.
    package var onAuthenticatedPayloadTimeout: (() -> Void)?

    /// What a connection came out of (Core Vol 4 Part E 7.7.65.10).
    package enum Origin: Hashable, Sendable {
        /// Advertising.
        case advertising
        /// As central, a subevent of a train of this device, by its advertising set.
        case ownTrain(set: UInt8)
        /// As peripheral, a subevent of a train that this device follows.
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

    /// What the connection came out of.
    package let origin: Origin

    /// Keys for this link that the host gave the controller and has not heard of the outcome.
    var keysGiven = 0
    /// Data that wait until the outcome is known.
    var hold = EncryptionHold()
    var holdTimer: ScheduledTask?

    /// Told how many packets that had waited for ``onReceive`` the host is done with.
    var onClaim: ((Int) -> Void)?

    /// PDUs that were dropped because the queue was full.
    package private(set) var droppedPDUs = 0

    private var queue = Deque<PacketBuffer>()
    private var isMidPDU = false
    /// Packets that lie in the controller's buffers.
    var outstanding = 0
    /// Since when: the first of them was given, or a buffer came back.
    var waitsSince = Instant.zero
    /// Whether that was too long once.
    var hasStalled = false
    /// Whether there were any when the connection ended.
    var leftData = false
    /// Whether the connection stands in the sender's ring.
    var isInRing = false

    private var unclaimed: [(fragment: PacketBuffer, isStart: Bool)] = []
    // Nil once the connection is gone. Until then it may be that the sender holds the connection, and each the other.
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

    /// Called when a PDU has left the queue, so that there is room for another.
    package var onDrain: (() -> Void)?

    /// Takes each fragment that arrives. What came before somebody set this is handed over at once.
    package var onReceive: ((_ fragment: PacketBuffer, _ isStart: Bool) -> Void)? {
        didSet {
            guard let onReceive, !unclaimed.isEmpty else { return }
            let fragments = unclaimed
            unclaimed = []
            for (fragment, isStart) in fragments { onReceive(fragment, isStart) }
            onClaim?(fragments.count)
        }
    }

    /// PDUs that wait, wholly or in part, for buffers of the controller.
    package var queuedPDUs: Int { queue.count }

    /// Queues an L2CAP PDU. With ``maximumQueuedPDUs`` waiting it is dropped and counted.
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

    /// The next packet for the controller, at most `limit` octets of payload, and whether a PDU ends with it.
    ///
    /// A PDU that fits goes as it is, with the header in its headroom; only a PDU that has to be cut is copied.
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

    /// Takes a packet; whether the host is done with it now.
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
