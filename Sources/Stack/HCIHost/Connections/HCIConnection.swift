import BluetoothTypes
import EventLoops
import HCI

/// A connection of the host: its data path and its current parameters.
///
/// Use it on the event loop only. After the disconnection it keeps its last parameters and sends nothing.
package final class HCIConnection: ACLLink {
    /// The maximum number of queued PDUs. The layer above observes ``queuedPDUs`` to apply backpressure.
    package static let maximumQueuedPDUs = ConnectionOutbox.maximumQueuedPDUs
    /// The maximum number of fragments kept until ``onReceive`` is set.
    static let maximumUnclaimedFragments = 16

    package var handle: ConnectionHandle { established.handle }
    package var role: LERole { established.role }
    /// The peer's identity address if the controller resolved it, else the address on the air.
    package var peerAddress: BluetoothAddress { established.peerAddress }
    /// The peer's resolvable private address; nil unless the controller resolved it.
    package var peerResolvableAddress: BluetoothAddress? {
        established.peerResolvableAddress.value == 0 ? nil : established.peerResolvableAddress
    }
    /// This device's resolvable private address; nil unless the controller generated it.
    package var localResolvableAddress: BluetoothAddress? {
        established.localResolvableAddress.value == 0 ? nil : established.localResolvableAddress
    }

    private let established: LEEnhancedConnectionComplete
    var encryption = LinkEncryption()
    private var holdTimer: ScheduledTask?
    package private(set) var isOpen = true

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

    /// Called with the number of packets consumed when ``onReceive`` is set after they arrived.
    private var onClaim: ((Int) -> Void)?

    let outbox: ConnectionOutbox
    private var unclaimed: [(fragment: PacketBuffer, isStart: Bool)] = []
    // Nil after the connection has ended. Until then the sender and the connection may retain each other.
    private var sender: ACLSender?

    init(_ event: LEEnhancedConnectionComplete, sender: ACLSender, onClaim: @escaping (Int) -> Void) {
        established = event
        (interval, latency, supervisionTimeout) = (event.interval, event.latency, event.supervisionTimeout)
        outbox = ConnectionOutbox(handle: event.handle)
        self.sender = sender
        self.onClaim = onClaim
    }

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

    // MARK: Sending

    package var onDrain: (() -> Void)? {
        get { outbox.onDrain }
        set { outbox.onDrain = newValue }
    }

    package var queuedPDUs: Int { outbox.queuedPDUs }

    package var droppedPDUs: Int { outbox.droppedPDUs }

    /// Queues an L2CAP PDU. If ``maximumQueuedPDUs`` PDUs are queued, drops it and increments ``droppedPDUs``.
    package func send(_ pdu: consuming PacketBuffer) {
        guard isOpen, !pdu.isEmpty else { return }
        if outbox.add(consume pdu) { sender?.wake(outbox) }
    }

    // MARK: Parameters

    /// The connection interval, in units of 1.25 ms.
    package private(set) var interval: UInt16
    /// The subrate factor: the link uses every `subrateFactor`-th connection event (Core Vol 6 Part B 4.5.1).
    package private(set) var subrateFactor: UInt16 = 1
    /// The peripheral latency: how many of the used connection events in a row the peripheral may skip.
    package private(set) var latency: UInt16
    /// The supervision timeout, in units of 10 ms.
    package private(set) var supervisionTimeout: UInt16
    /// The maximum link-layer payload for transmission, in octets.
    package private(set) var maxTxOctets: UInt16 = 27
    /// The maximum link-layer payload for reception, in octets.
    package private(set) var maxRxOctets: UInt16 = 27
    package private(set) var txPHY = LEPHY.le1M
    package private(set) var rxPHY = LEPHY.le1M

    // MARK: Encryption

    /// Whether the link is encrypted. True only after this host gave the controller a key for the link (AB-H05).
    package var isEncrypted: Bool { encryption.isOn }
    /// The size of the encryption key, in octets; nil unless the controller reports it with Encryption Change [v2].
    ///
    /// The link layer itself always uses 16 octets and does not store the size negotiated in pairing.
    package var encryptionKeySize: Int? { encryption.keySize }

    // MARK: Held data

    /// Starts the timer for held packets, unless it is running or none is held. `due` is called at its end.
    func armHoldTimer(on loop: any EventLoop, due: @escaping () -> Void) {
        guard holdTimer == nil, let deadline = encryption.hold.deadline else { return }
        holdTimer = loop.schedule(at: deadline) { [weak self] in
            self?.holdTimer = nil
            due()
        }
    }

    /// Stops the timer. The packets are still held.
    func stopHoldTimer(on loop: any EventLoop) {
        if let holdTimer = holdTimer.take() { loop.cancel(holdTimer) }
    }

    // MARK: Receiving

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
        _ = encryption.hold.end()
        outbox.close()
        unclaimed = []
        onReceive = nil
        onEncryption = nil
        onLongTermKeyRequest = nil
        onAuthenticatedPayloadTimeout = nil
        onClaim = nil
        sender = nil
    }
}

// MARK: - Parameters that an event has changed

extension HCIConnection {
    func apply(_ event: LEConnectionUpdateComplete) {
        // A new interval resets the subrate factor to 1 (Core Vol 6 Part B 5.1.1).
        if event.interval != interval { subrateFactor = 1 }
        interval = event.interval
        latency = event.latency
        supervisionTimeout = event.supervisionTimeout
    }

    func apply(_ event: LESubrateChange) {
        subrateFactor = event.factor
        latency = event.latency
        supervisionTimeout = event.supervisionTimeout
    }

    func apply(_ event: LEPHYUpdateComplete) {
        (txPHY, rxPHY) = (event.txPHY, event.rxPHY)
    }

    func apply(_ event: LEDataLengthChange) {
        (maxTxOctets, maxRxOctets) = (event.maxTxOctets, event.maxRxOctets)
    }
}
