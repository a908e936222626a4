/// An alert on a device's screen during pairing (behaviours 6.4, 6.8).
public struct PairingAlert: Hashable, Sendable {
    /// The content of an alert.
    public enum Content: Hashable, Sendable {
        /// Asks whether to pair.
        case asksWhetherToPair
        /// Asks whether to pair anew with a device that is paired already but does not use the bond (behaviour 6.14).
        case asksWhetherToPairAnew
        /// Shows six digits, to be typed on the other device.
        case showsCode(String)
        /// Asks for the six digits that the other device shows.
        case asksForCode
        /// Asks for six digits that the person makes up and types on both devices. Neither shows any (AB-S17).
        case asksForCodeOnBoth
        /// Shows six digits, and asks whether the other device shows the same.
        case comparesCode(String)
    }

    /// The side that began the pairing.
    public enum Origin: Hashable, Sendable {
        /// The other device began.
        case peer
        /// The apps with these names need it; empty if they are gone.
        case apps([String])
    }

    /// The content of the alert.
    public let content: Content
    /// The side that began the pairing. Alerts for apps go first, and replace those that other devices began.
    public let origin: Origin
    /// The name of the other device, or nil if it has none.
    public let peer: String?
    /// Whether the alert waits as a notification, since the apps that it is for are in the background (behaviour 6.21).
    public let isNotification: Bool

    init(_ content: Content, origin: Origin, peer: String?, isNotification: Bool = false) {
        self.content = content
        self.origin = origin
        self.peer = peer
        self.isNotification = isNotification
    }

    /// The six digits on the screen, if there are any.
    public var code: String? {
        switch content {
        case .showsCode(let code), .comparesCode(let code): code
        case .asksWhetherToPair, .asksWhetherToPairAnew, .asksForCode, .asksForCodeOnBoth: nil
        }
    }
}

/// A person's reaction to an alert.
public enum PairingReaction: Hashable, Sendable {
    /// Presses "Pair", or confirms that the digits on both screens are the same.
    case accept
    /// Presses "Cancel", which refuses the pairing.
    case decline
    /// Types these digits. Text that is not a number refuses the pairing.
    case type(String)
    /// Does nothing, for now or forever.
    case wait

    var words: String {
        switch self {
        case .accept: "the user accepts the pairing"
        case .decline: "the user declines the pairing"
        case .type(let digits): "the user types \(digits)"
        case .wait: "the user does nothing"
        }
    }
}
