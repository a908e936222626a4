/// The access that clients have to the value of a local characteristic.
///
/// The system checks permissions before it asks the delegate (behaviour 7.38).
public struct CBAttributePermissions: OptionSet, Sendable {
    /// The bits of the option set.
    public let rawValue: UInt

    /// Creates a set from its bits.
    ///
    /// - Parameter rawValue: The bits, assigned or not.
    public init(rawValue: UInt) {
        self.rawValue = rawValue
    }

    /// Any client may read the value.
    public static let readable = CBAttributePermissions(rawValue: 0x1)
    /// Any client may write the value.
    public static let writeable = CBAttributePermissions(rawValue: 0x2)
    /// Only paired clients may read the value, over an encrypted link (behaviour 6.15).
    public static let readEncryptionRequired = CBAttributePermissions(rawValue: 0x4)
    /// Only paired clients may write the value, over an encrypted link (behaviour 6.15).
    public static let writeEncryptionRequired = CBAttributePermissions(rawValue: 0x8)
}
