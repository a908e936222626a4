import BluetoothTypes

/// Identifies a channel of a manager. The service assigns the numbers and never reuses one.
public struct ChannelID: Hashable, Sendable {
    /// The number on the wire.
    public var rawValue: UInt32

    /// Creates the identifier with this number.
    public init(_ rawValue: UInt32) {
        self.rawValue = rawValue
    }
}

/// A request of an app for one of its L2CAP channels.
///
/// Each side may only have as many octets in transit as the other has allowed. An app that does not read thus stops its
/// peer, and an app that writes notices when its peer stops reading (behaviour 8.13).
public enum ChannelRequest: Hashable, Sendable {
    /// Allows the service to deliver this many more octets. The first grant adopts the channel; nothing is delivered
    /// before it. Up to ``ServiceLimits/channelWindow`` octets may be granted at a time.
    case grant(Int)
    /// Sends octets. Up to ``ServiceLimits/channelWindow`` may be queued; ``ChannelEvent/room(_:)`` reports those that
    /// have left the queue.
    case send(PacketBuffer)
    /// Closes the channel after the octets sent before have gone out.
    case close
}

/// An event of a channel.
public enum ChannelEvent: Hashable, Sendable {
    /// Octets of the peer, at most as many as were granted.
    case received(PacketBuffer)
    /// This many octets of the app have left the queue.
    case room(Int)
    /// The channel has ended, in order or with an error. The last event of the channel (behaviour 8.8).
    case ended(ServiceError?)
}
