/// The operations that a characteristic supports (Core Vol 3 Part G 3.3.1.1).
public struct CBCharacteristicProperties: OptionSet, Sendable {
    /// The bits of the option set. Those up to 0x80 are the bits on the wire.
    public let rawValue: UInt

    /// Creates a set from its bits.
    ///
    /// - Parameter rawValue: The bits, assigned or not.
    public init(rawValue: UInt) {
        self.rawValue = rawValue
    }

    /// The value can be broadcast in advertisements. Not allowed for local characteristics (behaviour 7.7).
    public static let broadcast = CBCharacteristicProperties(rawValue: 0x1)
    /// The value can be read.
    public static let read = CBCharacteristicProperties(rawValue: 0x2)
    /// The value can be written without a response.
    public static let writeWithoutResponse = CBCharacteristicProperties(rawValue: 0x4)
    /// The value can be written with a response.
    public static let write = CBCharacteristicProperties(rawValue: 0x8)
    /// The server sends notifications of the value, which the client does not confirm.
    public static let notify = CBCharacteristicProperties(rawValue: 0x10)
    /// The server sends indications of the value, which the client confirms.
    public static let indicate = CBCharacteristicProperties(rawValue: 0x20)
    /// The value can be written by signed writes. Core Bluetooth has no method for them (behaviour 5.25).
    public static let authenticatedSignedWrites = CBCharacteristicProperties(rawValue: 0x40)
    /// Further properties are in the Extended Properties descriptor (2900). Not allowed for local characteristics
    /// (behaviour 7.7).
    public static let extendedProperties = CBCharacteristicProperties(rawValue: 0x80)
    /// Only paired clients can subscribe to notifications. For local characteristics only: clients see ``notify``
    /// (behaviour 6.15).
    public static let notifyEncryptionRequired = CBCharacteristicProperties(rawValue: 0x100)
    /// Only paired clients can subscribe to indications. For local characteristics only: clients see ``indicate``
    /// (behaviour 6.15).
    public static let indicateEncryptionRequired = CBCharacteristicProperties(rawValue: 0x200)
}
