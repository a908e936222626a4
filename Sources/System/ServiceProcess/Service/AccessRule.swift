import ServiceMessages

/// Decides who may use a service, by the user that the kernel reports.
package struct AccessRule: Hashable, Sendable {
    /// The user that the service runs as.
    package var owner: UInt32
    /// Whether apps of other users are admitted. The permission bits of the socket have to allow them to connect as
    /// well.
    package var letsOthersIn: Bool

    package init(owner: UInt32, letsOthersIn: Bool = false) {
        self.owner = owner
        self.letsOthersIn = letsOthersIn
    }

    /// Whether a user controls the service, in addition to using it.
    package func commands(_ user: UInt32) -> Bool { user == owner || user == 0 }

    /// The error for a user who is not admitted; nil for one who is.
    func refusal(of user: UInt32) -> ServiceError? {
        guard !letsOthersIn, !commands(user) else { return nil }
        return ServiceError(
            .operationNotSupported,
            reason: """
                this Bluetooth service is for user \(owner), and this program runs as user \(user); run `harald service` as \
                that user and name its socket in HARALD_SERVICE, or admit other users with `harald service --all-users`
                """
        )
    }
}
