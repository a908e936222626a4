/// The question on a device's screen whether an app may use Bluetooth (behaviour 1.18).
public struct PermissionQuestion: Hashable, Sendable {
    /// The display name of the app, or else its identifier, as one line.
    public let app: String
    /// The identifier of the app, as one line.
    public let identifier: String
    /// The app's reason for using Bluetooth, as one line. Nil if its `Info.plist` has none (behaviour 1.19).
    public let usageDescription: String?
}

/// A person's answer to a ``PermissionQuestion``.
public enum PermissionAnswer: Hashable, Sendable {
    /// Presses "OK". The app may use Bluetooth.
    case allow
    /// Presses "Don't Allow". The app may not use Bluetooth.
    case deny
    /// Does nothing, for now or forever.
    case wait
}
