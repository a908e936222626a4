import ATT
import BluetoothTypes

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
    /// Whether the value accepts signed writes.
    var takesSignedWrites = false
    /// The last handle of the group that the attribute begins; otherwise its own handle.
    var groupEnd: UInt16

    /// The error with which the attribute refuses to be read over a link; nil if reading is allowed.
    func refusalOfReading(_ linkSecurity: LinkSecurity) -> ATTErrorCode? {
        guard let requirement = permissions.read else { return .readNotPermitted }
        return linkSecurity.attributeRefusal(of: requirement) ?? refusalWithoutAuthorization(linkSecurity)
    }

    /// The error with which the attribute refuses to be written over a link; nil if writing is allowed.
    ///
    /// - Parameter isSigned: Whether the write has a valid signature.
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
