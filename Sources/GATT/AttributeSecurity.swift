import ATT
import BluetoothTypes
import L2CAP

extension LinkSecurity {
    /// The shortest key that protects an attribute, in octets, whatever that asks for (AB-A13).
    package static let minimumKeySize = 16

    /// Why the link does not meet what an attribute asks for; nil when it does (Core Vol 3 Part C 10.3.1, table 10.2). As long
    /// as it is not encrypted, how good the key is does not matter.
    package func attributeRefusal(of level: SecurityLevel) -> ATTErrorCode? {
        guard level.isEncrypted else { return nil }
        guard let encryption else { return hasKey ? .insufficientEncryption : .insufficientAuthentication }
        let level = isSecureConnectionsOnly ? .secureConnections : level
        guard level.with(keySize: 0).isMet(by: encryption) else { return .insufficientAuthentication }
        return encryption.keySize < Self.minimumKeySize ? .encryptionKeySizeTooShort : nil
    }
}
