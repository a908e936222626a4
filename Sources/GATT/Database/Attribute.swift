import ATT
import BluetoothTypes

/// An attribute of the database.
struct Attribute {
    /// Where the value comes from.
    enum Source {
        case fixed(PacketBuffer)
        case asked
        /// Each client's own choice about the value at `handle`, among `choices`.
        case configuration(of: UInt16, choices: ClientConfiguration)
        /// Each client's own features (Core Vol 3 Part G 7.2).
        case clientFeatures
        /// The hash of the database (Core Vol 3 Part G 7.3).
        case databaseHash
    }

    var handle: UInt16
    var type: BluetoothUUID
    var permissions: AttributePermissions
    var source: Source
    /// The last handle of the group that the attribute begins, else the attribute itself.
    var groupEnd: UInt16

    /// Why the attribute cannot be read over a link; nil when it can.
    func refusalOfReading(_ security: LinkSecurity) -> ATTErrorCode? {
        guard let requirement = permissions.read else { return .readNotPermitted }
        return security.refusal(of: requirement)
    }

    /// Why the attribute cannot be written over a link; nil when it can.
    func refusalOfWriting(_ security: LinkSecurity) -> ATTErrorCode? {
        guard let requirement = permissions.write else { return .writeNotPermitted }
        return security.refusal(of: requirement)
    }
}
