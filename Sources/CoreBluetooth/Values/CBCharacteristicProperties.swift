/// What can be done with a characteristic (Core Vol 3 Part G 3.3.1.1).
public struct CBCharacteristicProperties: OptionSet, Sendable {
    /// The bits; those up to 0x80 as on the wire.
    public let rawValue: UInt

    /// Any bits.
    public init(rawValue: UInt) {
        self.rawValue = rawValue
    }

    /// Its value may be in advertisements. Not for local characteristics.
    public static let broadcast = CBCharacteristicProperties(rawValue: 0x1)
    /// It can be read.
    public static let read = CBCharacteristicProperties(rawValue: 0x2)
    /// It can be written without a response.
    public static let writeWithoutResponse = CBCharacteristicProperties(rawValue: 0x4)
    /// It can be written with a response.
    public static let write = CBCharacteristicProperties(rawValue: 0x8)
    /// It sends notifications, which nobody confirms.
    public static let notify = CBCharacteristicProperties(rawValue: 0x10)
    /// It sends indications, which the client confirms.
    public static let indicate = CBCharacteristicProperties(rawValue: 0x20)
    /// It takes signed writes.
    public static let authenticatedSignedWrites = CBCharacteristicProperties(rawValue: 0x40)
    /// More properties are in a descriptor. Not for local characteristics.
    public static let extendedProperties = CBCharacteristicProperties(rawValue: 0x80)
    /// Only trusted devices may have notifications. Local only; on the air it is ``notify``.
    public static let notifyEncryptionRequired = CBCharacteristicProperties(rawValue: 0x100)
    /// Only trusted devices may have indications. Local only; on the air it is ``indicate``.
    public static let indicateEncryptionRequired = CBCharacteristicProperties(rawValue: 0x200)
}
