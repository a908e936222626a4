import ATT
import BluetoothTypes

/// An attribute of the database.
struct Attribute {
    /// Where the value comes from.
    enum Source {
        case fixed(PacketBuffer)
        case asked
        /// Each client's own choice about the value at `handle`.
        case configuration(of: UInt16, SubscriptionRule)
        /// Each client's own features (Core Vol 3 Part G 7.2).
        case clientFeatures
        /// The hash of the database (Core Vol 3 Part G 7.3).
        case databaseHash
    }

    var handle: UInt16
    var type: BluetoothUUID
    var permissions: AttributePermissions
    var source: Source
    /// Whether the value may be written with a signature.
    var takesSignedWrites = false
    /// The last handle of the group that the attribute begins, else the attribute itself.
    var groupEnd: UInt16

    /// Why the attribute cannot be read over a link; nil when it can.
    func refusalOfReading(_ security: LinkSecurity) -> ATTErrorCode? {
        guard let requirement = permissions.read else { return .readNotPermitted }
        return security.attributeRefusal(of: requirement) ?? refusalWithoutAuthorization(security)
    }

    /// Why the attribute cannot be written over a link; nil when it can.
    ///
    /// - Parameter isSigned: whether the write has a signature that is right.
    func refusalOfWriting(_ security: LinkSecurity, isSigned: Bool = false) -> ATTErrorCode? {
        guard let requirement = permissions.write else { return .writeNotPermitted }
        if let refusal = security.attributeRefusal(of: requirement) { return refusal }
        // Encryption does for a signature (Core Vol 3 Part C 10.4.2).
        if permissions.needsSignature, !isSigned, !security.isEncrypted { return .insufficientAuthentication }
        return refusalWithoutAuthorization(security)
    }

    private func refusalWithoutAuthorization(_ security: LinkSecurity) -> ATTErrorCode? {
        permissions.needsAuthorization && !security.isAuthorized ? .insufficientAuthorization : nil
    }
}
