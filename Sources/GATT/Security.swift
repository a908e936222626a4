import ATT
import L2CAP

/// What an attribute asks of the link before it is read or written (Core Vol 3 Part C 10.2.1).
package enum SecurityRequirement: Int, Hashable, Sendable, Comparable {
    /// Nothing: security mode 1 level 1.
    case none
    /// Encryption: level 2.
    case encrypted
    /// Encryption with a key that nobody in the middle can have: level 3.
    case authenticated
    /// Encryption with such a key, made by LE Secure Connections: level 4.
    case secureConnections

    /// Weaker first.
    package static func < (a: SecurityRequirement, b: SecurityRequirement) -> Bool { a.rawValue < b.rawValue }
}

/// The security of a link at this moment.
package struct LinkSecurity: LinkRights, Hashable, Sendable {
    /// The shortest key that protects anything, in octets (AB-A13).
    package static let minimumKeySize = 16

    /// Whether the link is encrypted.
    package var isEncrypted = false
    /// Whether the key that it is encrypted with is an authenticated one.
    package var isAuthenticated = false
    /// Whether that key was made by LE Secure Connections.
    package var isSecureConnections = false
    /// The length of that key, in octets.
    package var keySize = 16
    /// Whether there is a key for this peer, in use or not.
    package var hasKey = false
    /// Whether the user of this system lets the peer have what asks for that (Core Vol 3 Part C 10.5).
    package var isAuthorized = false
    /// Whether this system is in Secure Connections Only mode: whatever asks for anything asks for level 4 (Core Vol 3
    /// Part C 10.2.4).
    package var isSecureConnectionsOnly = false

    /// No security.
    package init() {}

    /// The given security.
    package init(
        isEncrypted: Bool,
        isAuthenticated: Bool = false,
        isSecureConnections: Bool = false,
        keySize: Int = 16,
        hasKey: Bool = true
    ) {
        self.isEncrypted = isEncrypted
        self.isAuthenticated = isAuthenticated
        self.isSecureConnections = isSecureConnections
        self.keySize = keySize
        self.hasKey = hasKey
    }

    /// The same link without encryption.
    var inTheClear: LinkSecurity {
        var security = self
        (security.isEncrypted, security.isAuthenticated, security.isSecureConnections) = (false, false, false)
        return security
    }

    /// The security that both give. What is not the link's but this system's is as it is later: whether there is a key for the
    /// peer, and what the user and the mode of the system say.
    package func limited(by later: LinkSecurity) -> LinkSecurity {
        var security = later
        security.isEncrypted = isEncrypted && later.isEncrypted
        security.isAuthenticated = isAuthenticated && later.isAuthenticated
        security.isSecureConnections = isSecureConnections && later.isSecureConnections
        security.keySize = min(keySize, later.keySize)
        return security
    }

    /// Why the link does not meet `requirement`; nil when it does (Core Vol 3 Part C 10.3.1, table 10.2). As long as it is
    /// not encrypted, how good the key is does not matter.
    package func refusal(of requirement: SecurityRequirement) -> ATTErrorCode? {
        guard requirement > .none else { return nil }
        guard isEncrypted else { return hasKey ? .insufficientEncryption : .insufficientAuthentication }
        let requirement = isSecureConnectionsOnly ? .secureConnections : requirement
        guard requirement < .authenticated || isAuthenticated else { return .insufficientAuthentication }
        guard requirement < .secureConnections || isSecureConnections else { return .insufficientAuthentication }
        return keySize < Self.minimumKeySize ? .encryptionKeySizeTooShort : nil
    }
}
