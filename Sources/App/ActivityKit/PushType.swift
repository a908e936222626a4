/// How a Live Activity receives updates in push notifications, which this system does not have: a request with one fails
/// with ``ActivityAuthorizationError/unentitled``.
public struct PushType: Hashable, Sendable {
    private let channel: String?

    /// Updates that are addressed to the activity by a token.
    public static var token: PushType { PushType(channel: nil) }

    /// Updates of a channel.
    ///
    /// - Parameter name: The identifier of the channel.
    public static func channel(_ name: String) -> PushType { PushType(channel: name) }
}
