import BluetoothTypes

/// Something that arrived and was thrown away, for a log and for counting. None of it ends the link.
package enum L2CAPDiscard: Hashable, Sendable {
    /// A fragment that continues nothing.
    case continuationWithoutStart
    /// A PDU began while another one was incomplete; the older one is gone.
    case interrupted(received: Int)
    /// The basic header announces more than the channel may carry.
    case tooLong(ChannelIdentifier, length: Int, limit: Int)
    /// The fragments hold more than the basic header announces.
    case overrun(ChannelIdentifier, length: Int, received: Int)
    /// The rest of a PDU did not come in time.
    case incomplete(received: Int)
    /// Nobody listens on the channel.
    case unassigned(ChannelIdentifier)
    /// Octets on the signalling channel that cannot be answered.
    case signalling(SignallingFault)
}
