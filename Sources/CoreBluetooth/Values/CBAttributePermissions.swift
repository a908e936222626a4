/// What clients may do with the value of a local characteristic.
public struct CBAttributePermissions: OptionSet, Sendable {
    /// The bits.
    public let rawValue: UInt

    /// Any bits.
    public init(rawValue: UInt) {
        self.rawValue = rawValue
    }

    /// All may read.
    public static let readable = CBAttributePermissions(rawValue: 0x1)
    /// All may write.
    public static let writeable = CBAttributePermissions(rawValue: 0x2)
    /// Trusted devices may read.
    public static let readEncryptionRequired = CBAttributePermissions(rawValue: 0x4)
    /// Trusted devices may write.
    public static let writeEncryptionRequired = CBAttributePermissions(rawValue: 0x8)
}
