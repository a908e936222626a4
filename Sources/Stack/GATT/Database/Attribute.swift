import ATT
import BluetoothTypes
import L2CAP

/// An attribute of the local database.
struct Attribute {
    /// The source of an attribute's value.
    enum Source {
        case fixed(PacketBuffer)
        case asked
        /// Each client's own configuration of the value at the handle.
        case configuration(of: UInt16, SubscriptionRule)
        /// Each client's own supported features (Core Vol 3 Part G 7.2).
        case clientFeatures
        /// The Database Hash (Core Vol 3 Part G 7.3).
        case databaseHash
    }

    var handle: UInt16
    var type: BluetoothUUID
    var permissions: AttributePermissions
    var source: Source
    var takesSignedWrites = false
    /// The last handle of the group that the attribute begins; otherwise its own handle.
    var groupEnd: UInt16

    /// The error with which the attribute refuses to be read over a link; nil if reading is allowed.
    func refusalOfReading(_ linkSecurity: LinkSecurity) -> ATTErrorCode? {
        guard let requirement = permissions.read else { return .readNotPermitted }
        return linkSecurity.attributeRefusal(of: requirement) ?? refusalWithoutAuthorization(linkSecurity)
    }

    /// The error with which the attribute refuses to be written over a link; nil if writing is allowed.
    func refusalOfWriting(_ linkSecurity: LinkSecurity, isSigned: Bool = false) -> ATTErrorCode? {
        guard let requirement = permissions.write else { return .writeNotPermitted }
        if let refusal = linkSecurity.attributeRefusal(of: requirement) { return refusal }
        // Encryption replaces a signature (Core Vol 3 Part C 10.4.2).
        if permissions.needsSignature, !isSigned, !linkSecurity.isEncrypted { return .insufficientAuthentication }
        return refusalWithoutAuthorization(linkSecurity)
    }

    private func refusalWithoutAuthorization(_ linkSecurity: LinkSecurity) -> ATTErrorCode? {
        permissions.needsAuthorization && !linkSecurity.isAuthorized ? .insufficientAuthorization : nil
    }
}

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

/// The link security that subscriptions to a value require, for notifications and indications (Core Vol 3 Part C
/// 10.3.1.1).
struct SubscriptionRule: Hashable, Sendable {
    var choices: ClientConfiguration
    var notification: SecurityLevel
    var indication: SecurityLevel

    /// Whether no subscription requires any security.
    var isOpen: Bool { requirement(of: choices) == .none }

    /// The weaker of the requirements of the supported configurations.
    var least: SecurityLevel {
        guard choices.contains(.notify) else { return indication }
        return choices.contains(.indicate) && notification.includes(indication) ? indication : notification
    }

    func requirement(of choice: ClientConfiguration) -> SecurityLevel {
        let notification = choice.contains(.notify) ? notification : .none
        return choice.contains(.indicate) ? notification.joined(with: indication) : notification
    }

    func served(_ choice: ClientConfiguration, over linkSecurity: LinkSecurity) -> ClientConfiguration {
        var served = choice
        if linkSecurity.attributeRefusal(of: notification) != nil { served.remove(.notify) }
        if linkSecurity.attributeRefusal(of: indication) != nil { served.remove(.indicate) }
        return served
    }
}
