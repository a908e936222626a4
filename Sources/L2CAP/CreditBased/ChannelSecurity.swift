/// What a service asks of the link before it takes a channel (Core Vol 3 Part C 10.3).
package struct ChannelRequirement: Hashable, Sendable {
    /// How well the link is to be protected (Vol 3 Part C 10.2.1).
    package enum Level: Int, Hashable, Sendable, Comparable {
        /// Not at all.
        case none
        /// Encryption.
        case encrypted
        /// Encryption with a key that nobody in the middle can have.
        case authenticated

        /// Weaker first.
        package static func < (a: Level, b: Level) -> Bool { a.rawValue < b.rawValue }
    }

    /// How well the link is to be protected.
    package var level: Level
    /// The shortest key that is good enough, 7 to 16 octets (AB-A13).
    package var minimumKeySize: Int

    /// The given protection, with a key of full length unless said otherwise.
    package init(_ level: Level = .none, minimumKeySize: Int = 16) {
        self.level = level
        self.minimumKeySize = minimumKeySize
    }
}

/// How a link is protected at this moment. Its owner keeps it up to date at ``L2CAPConnection/protection``; until
/// somebody does, the link counts as unprotected.
package struct LinkProtection: LinkRights, Hashable, Sendable {
    /// Whether there is a key for the peer, in use or not.
    package var hasKey = false
    /// Whether that key is an authenticated one.
    package var isAuthenticated = false
    /// Its length in octets.
    package var keySize = 16
    /// Whether the link is encrypted with it.
    package var isEncrypted = false

    /// No protection.
    package init() {}

    /// The given protection.
    package init(hasKey: Bool, isAuthenticated: Bool = false, keySize: Int = 16, isEncrypted: Bool = true) {
        self.hasKey = hasKey
        self.isAuthenticated = isAuthenticated
        self.keySize = keySize
        self.isEncrypted = isEncrypted
    }

    /// The protection that both give. Whether there is a key is known better later, and protects nothing.
    package func limited(by later: LinkProtection) -> LinkProtection {
        LinkProtection(
            hasKey: later.hasKey,
            isAuthenticated: isAuthenticated && later.isAuthenticated,
            keySize: min(keySize, later.keySize),
            isEncrypted: isEncrypted && later.isEncrypted
        )
    }

    /// Why a channel with `requirement` is refused, nil when it is not. A key that would not do even if it were in use
    /// comes first: encryption alone would not help (Vol 3 Part C 10.3.1).
    package func refusal(of requirement: ChannelRequirement) -> ChannelResult? {
        guard requirement.level > .none else { return nil }
        guard hasKey, requirement.level < .authenticated || isAuthenticated else { return .insufficientAuthentication }
        guard isEncrypted else { return .insufficientEncryption }
        return keySize < requirement.minimumKeySize ? .encryptionKeySizeTooShort : nil
    }
}
