/// What a device shows its person while it pairs.
public struct PairingAlert: Hashable, Sendable {
    /// What is on the screen.
    public enum Content: Hashable, Sendable {
        /// Pair or not?
        case asksWhetherToPair
        /// Pair anew, though the device is paired already and does not show it?
        case asksWhetherToPairAnew
        /// Six digits, to be typed on the other device.
        case showsCode(String)
        /// A field for the six digits that the other device shows.
        case asksForCode
        /// Six digits, and whether the other device shows the same.
        case comparesCode(String)
    }

    /// What is on the screen.
    public let content: Content
    /// The other device as this one calls it; nil for one without a name.
    public let peer: String?
    /// Whether it waits as a notification, since the apps that it is for are in the background (behaviour 6.21).
    public let isNotification: Bool

    init(_ content: Content, peer: String?, isNotification: Bool = false) {
        self.content = content
        self.peer = peer
        self.isNotification = isNotification
    }

    /// The six digits on the screen.
    public var code: String? {
        switch content {
        case .showsCode(let code), .comparesCode(let code): code
        case .asksWhetherToPair, .asksWhetherToPairAnew, .asksForCode: nil
        }
    }
}

/// What a person does about an alert.
public enum PairingReaction: Hashable, Sendable {
    /// Presses "Pair".
    case accept
    /// Presses "Cancel".
    case decline
    /// Types these digits.
    case type(String)
    /// Nothing, for now or for ever.
    case wait
}
