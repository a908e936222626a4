import BluetoothTypes

/// Received data that was dropped, for logs and counters. None of these closes the link.
package enum L2CAPDiscard: Hashable, Sendable {
    /// A continuation fragment arrived without a PDU to continue.
    case continuationWithoutStart
    /// A new PDU began before the previous one was complete; the previous one was dropped.
    case interrupted(received: Int)
    /// The length in the basic header exceeds the limit of the channel.
    case tooLong(ChannelIdentifier, length: Int, limit: Int)
    /// The fragments hold more octets than the basic header announced.
    case overrun(ChannelIdentifier, length: Int, received: Int)
    /// The PDU was not completed within ``L2CAPConnection/recombinationTimeout``.
    case incomplete(received: Int)
    /// The channel is not registered here.
    case unassigned(ChannelIdentifier)
    /// The signalling channel received a packet that got no answer, or a Command Reject.
    case signalling(SignallingFault)
}
