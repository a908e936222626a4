import BluetoothTypes

/// A channel as the protocols above use it: whole payloads, in order, in both directions.
///
/// All methods and handlers run on the event loop.
package protocol L2CAPChannel: AnyObject {
    /// Called for each payload, with the moment at which it began to arrive.
    var onReceive: ((_ payload: PacketBuffer, _ moment: LinkMoment) -> Void)? { get set }

    /// Called once, when the channel closes. Nothing is received afterwards.
    var onClose: (() -> Void)? { get set }

    /// Called when a PDU has left the queue, so that there is room for another.
    var onDrain: (() -> Void)? { get set }

    /// The number of queued PDUs. A fixed channel counts those of the whole link, a credit-based one its own SDUs.
    var queuedPDUs: Int { get }

    /// The security of the link at each of its moments.
    var history: LinkHistory { get }

    /// Queues a payload; does nothing if the channel is closed.
    ///
    /// Headers go into the payload's headroom. A uniquely referenced buffer is not copied.
    func send(_ payload: consuming PacketBuffer)
}

extension L2CAPChannel {
    /// The current moment of the link. PDUs that begin to arrive from now on have a later one.
    package var moment: LinkMoment { history.moment }
}

/// A channel that exists as long as its link does (Core Vol 3 Part A 2.1).
package final class L2CAPFixedChannel: L2CAPChannel {
    /// The channel identifier, the same at both ends.
    package let identifier: ChannelIdentifier
    /// The longest payload accepted from the peer, in octets.
    package let maximumPayload: Int
    /// The security of the link at each of its moments.
    package let history: LinkHistory

    /// Called for each payload, with the moment at which it began to arrive.
    package var onReceive: ((_ payload: PacketBuffer, _ moment: LinkMoment) -> Void)?
    /// Called for each payload that is dropped because it is longer than ``maximumPayload``.
    ///
    /// - Parameters:
    ///   - beginning: The first octets of the payload, at least one.
    ///   - length: The length of the whole payload, in octets.
    ///   - moment: The moment at which the payload began to arrive.
    package var onOversized: ((_ beginning: PacketBuffer, _ length: Int, _ moment: LinkMoment) -> Void)?
    /// Called once, when the link closes.
    package var onClose: (() -> Void)?
    /// Called when a PDU has left the queue of the link.
    package var onDrain: (() -> Void)?

    // Weak, because the connection owns its channels.
    private weak var connection: L2CAPConnection?

    init(_ identifier: ChannelIdentifier, maximumPayload: Int, connection: L2CAPConnection) {
        self.identifier = identifier
        self.maximumPayload = maximumPayload
        self.connection = connection
        history = connection.history
    }

    /// The PDUs of all channels of the link that are waiting for the controller; 0 once the link is closed.
    package var queuedPDUs: Int { connection?.queuedPDUs ?? 0 }

    /// Queues a payload; does nothing if the link is closed.
    package func send(_ payload: consuming PacketBuffer) {
        connection?.send(payload, on: identifier)
    }

    func close() {
        let handler = onClose
        onReceive = nil
        onOversized = nil
        onClose = nil
        onDrain = nil
        connection = nil
        handler?()
    }
}
