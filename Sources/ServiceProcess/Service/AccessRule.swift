import BluetoothService

/// Who may use a service, by the user that the kernel names.
package struct AccessRule: Hashable, Sendable {
    /// The user that the service runs as.
    package var owner: UInt32
    /// Whether apps of other users are let in, as far as the bits of the socket let them connect.
    package var letsOthersIn: Bool

    /// A rule.
    package init(owner: UInt32, letsOthersIn: Bool = false) {
        self.owner = owner
        self.letsOthersIn = letsOthersIn
    }

    /// Whether a user commands the service, and does not just use it.
    package func commands(_ user: UInt32) -> Bool { user == owner || user == 0 }

    /// Why a user is not let in; nil for one who is.
    func refusal(of user: UInt32) -> ServiceError? {
        guard !letsOthersIn, !commands(user) else { return nil }
        return ServiceError(
            .operationNotSupported,
            reason: """
                this Bluetooth service is for user \(owner), and this program runs as user \(user); run `harald service` as that \
                user too, and name its socket in HARALD_SERVICE, or let others in with `harald service --all-users`
                """
        )
    }
}
