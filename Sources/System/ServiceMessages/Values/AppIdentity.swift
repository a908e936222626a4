import BluetoothTypes

/// Identifies an app. The identity is stable on one host, whichever process the app runs in.
public struct AppIdentity: Hashable, Sendable {
    /// The bundle identifier, or the name of the executable if there is none.
    public var name: String
    /// The user ID that the app runs as. The service determines it and does not trust what the app claims.
    public var owner: UInt32

    /// Creates an identity from a name and a user ID.
    ///
    /// - Parameters:
    ///   - name: The bundle identifier, or the name of the executable if there is none.
    ///   - owner: The user ID that the app runs as. For an app in another process, the service uses that of the
    ///     process.
    public init(name: String, owner: UInt32 = 0) {
        self.name = name
        self.owner = owner
    }

    /// The description for the log and the user.
    package var label: String { "\(name.quotedName) of user \(owner)" }
}
