import ATT
import BluetoothTypes
import L2CAP

extension LinkSecurity {
    /// The shortest encryption key accepted for a protected attribute, in octets, whatever the attribute requires
    /// (AB-A13).
    package static let minimumKeySize = 16

    /// The error with which an attribute that requires `level` refuses access over this link; nil if access is allowed
    /// (Core Vol 3 Part C 10.3.1, table 10.2). The quality of the key matters only once the link is encrypted. A key of
    /// Just Works opens nothing that requires more, however often a peer completes it (AB-S06).
    package func attributeRefusal(of level: SecurityLevel) -> ATTErrorCode? {
        guard level.isEncrypted else { return nil }
        guard let encryption else { return hasKey ? .insufficientEncryption : .insufficientAuthentication }
        let level = isSecureConnectionsOnly ? .secureConnections : level
        guard level.with(keySize: 0).isMet(by: encryption) else { return .insufficientAuthentication }
        return encryption.keySize < Self.minimumKeySize ? .encryptionKeySizeTooShort : nil
    }
}
