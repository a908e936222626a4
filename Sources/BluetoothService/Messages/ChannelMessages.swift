import BluetoothTypes

/// Names a channel of a manager. The service gives the numbers, and none comes twice.
public struct ChannelID: Hashable, Sendable {
    /// The number.
    public var rawValue: UInt32

    /// The channel with this number.
    public init(_ rawValue: UInt32) {
        self.rawValue = rawValue
    }
}

/// What an app asks about one of its L2CAP channels. Each side has so many octets on their way to the other as that has
/// allowed, and no more: an app that does not read stops its peer, and one that writes sees when its peer takes no more
/// (behaviour 8.13).
public enum ChannelRequest: Hashable, Sendable {
    /// So many more octets may come. Nothing comes before the first of these, by which the app takes the channel over; up to
    /// ``ServiceLimits/channelWindow`` may be on their way.
    case grant(Int)
    /// Sends octets. Up to ``ServiceLimits/channelWindow`` may wait; ``ChannelEvent/room(_:)`` gives room back.
    case send(PacketBuffer)
    /// The app lets go of the channel. What it has sent before goes out first.
    case close
}

/// What the service tells about a channel.
public enum ChannelEvent: Hashable, Sendable {
    /// Octets of the peer, at most as many as were granted.
    case received(PacketBuffer)
    /// So many octets that the app has sent wait no longer.
    case room(Int)
    /// The channel has ended, in order or with an error, and this is the last that is told of it (behaviour 8.8).
    case ended(ServiceError?)
}
