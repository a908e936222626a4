import BluetoothTypes

/// A channel as the protocols above see it: whole payloads in order both ways.
///
/// Lives on the loop; everything is called there.
package protocol L2CAPChannel: AnyObject {
    /// Takes each payload that arrives, and the moment at which it began to.
    var onReceive: ((_ payload: PacketBuffer, _ moment: LinkMoment) -> Void)? { get set }

    /// Called once when the channel is gone; nothing is received after that.
    var onClose: (() -> Void)? { get set }

    /// Called when a PDU has left the link's queue, so that there is room for another.
    var onDrain: (() -> Void)? { get set }

    /// PDUs of all channels of the link that wait for the controller.
    var queuedPDUs: Int { get }

    /// The present moment of the link: what begins to arrive from now on is later.
    var moment: LinkMoment { get }

    /// Queues a payload. Headers go into its headroom; a buffer that nobody else holds is not copied. On a channel
    /// that is gone nothing happens.
    func send(_ payload: consuming PacketBuffer)
}

/// A channel that exists as long as its link does (Core Vol 3 Part A 2.1).
package final class L2CAPFixedChannel: L2CAPChannel {
    /// The channel's number.
    package let identifier: ChannelIdentifier
    /// The longest payload that is taken from the peer, in octets.
    package let maximumPayload: Int

    /// Takes each payload that arrives, and the moment at which it began to.
    package var onReceive: ((_ payload: PacketBuffer, _ moment: LinkMoment) -> Void)?
    /// Hears of each payload that is longer than ``maximumPayload`` and thrown away: its first octets, one at least, its
    /// length, and the moment at which it began to arrive.
    package var onOversized: ((_ beginning: PacketBuffer, _ length: Int, _ moment: LinkMoment) -> Void)?
    /// Called once when the link is gone.
    package var onClose: (() -> Void)?
    /// Called when a PDU has left the link's queue.
    package var onDrain: (() -> Void)?

    // The connection owns its channels; a channel does not keep the connection.
    private weak var connection: L2CAPConnection?

    init(_ identifier: ChannelIdentifier, maximumPayload: Int, connection: L2CAPConnection) {
        self.identifier = identifier
        self.maximumPayload = maximumPayload
        self.connection = connection
    }

    /// PDUs of all channels of the link that wait for the controller; 0 when the link is gone.
    package var queuedPDUs: Int { connection?.queuedPDUs ?? 0 }

    /// The present moment of the link.
    package var moment: LinkMoment { connection?.moment ?? .first }

    /// Queues a payload.
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
