/// The question whether an app may use Bluetooth, as it stands on a device's screen (behaviour 1.18).
public struct PermissionQuestion: Hashable, Sendable {
    /// What the app calls itself, as one line; its identifier where it does not.
    public let app: String
    /// The identifier that the app gives for itself, as one line.
    public let identifier: String
    /// What the app says that Bluetooth is for, as one line; nil for one that says nothing.
    public let usageDescription: String?
}

/// What a person answers to a ``PermissionQuestion``.
public enum PermissionAnswer: Hashable, Sendable {
    /// "OK".
    case allow
    /// "Don't Allow".
    case deny
    /// Nothing, for now or for ever.
    case wait
}
