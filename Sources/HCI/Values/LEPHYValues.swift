import BluetoothTypes

/// One of the physical layers (Core Vol 4 Part E 7.8.47).
public struct LEPHY: NamedWireValue {
    /// The number on the wire.
    public var rawValue: UInt8

    /// Any number, known or not.
    public init(rawValue: UInt8) {
        self.rawValue = rawValue
    }

    /// The name for a log; the number in hexadecimal when it has none.
    public var description: String { named }

    /// None: there is no secondary channel.
    public static let none = LEPHY(rawValue: 0x00)
    /// One million symbols in a second.
    public static let le1M = LEPHY(rawValue: 0x01)
    /// Two million symbols in a second.
    public static let le2M = LEPHY(rawValue: 0x02)
    /// The coded one, for long range.
    public static let coded = LEPHY(rawValue: 0x03)

    static let names: [UInt8: String] = [
        0x00: "none",
        0x01: "1M",
        0x02: "2M",
        0x03: "Coded",
    ]
}

/// Some of the physical layers (Core Vol 4 Part E 7.8.48).
public struct LEPHYs: WireFlags {
    /// The bits on the wire.
    public var rawValue: UInt8

    /// Any bits, known or not.
    public init(rawValue: UInt8) {
        self.rawValue = rawValue
    }

    /// One million symbols in a second.
    public static let le1M = bit(0)
    /// Two million symbols in a second.
    public static let le2M = bit(1)
    /// The coded one, for long range.
    public static let coded = bit(2)

    /// The names of the bits, for a log.
    public static let names: [(flag: LEPHYs, name: String)] = [
        (.le1M, "1M"),
        (.le2M, "2M"),
        (.coded, "Coded"),
    ]
}

/// In which directions the host does not care about the PHY (Core Vol 4 Part E 7.8.48).
public struct LEPHYPreference: WireFlags {
    /// The bits on the wire.
    public var rawValue: UInt8

    /// Any bits, known or not.
    public init(rawValue: UInt8) {
        self.rawValue = rawValue
    }

    /// Any PHY to transmit with.
    public static let anyTransmitter = bit(0)
    /// Any PHY to receive with.
    public static let anyReceiver = bit(1)

    /// The names of the bits, for a log.
    public static let names: [(flag: LEPHYPreference, name: String)] = [
        (.anyTransmitter, "any transmitter"),
        (.anyReceiver, "any receiver"),
    ]
}

/// Which coding a transmitter on the Coded PHY prefers (Core Vol 4 Part E 7.8.49).
public struct LECodedPHYOption: NamedWireValue {
    /// The number on the wire.
    public var rawValue: UInt16

    /// Any number, known or not.
    public init(rawValue: UInt16) {
        self.rawValue = rawValue
    }

    /// The name for a log; the number in hexadecimal when it has none.
    public var description: String { named }

    /// No preference.
    public static let noPreference = LECodedPHYOption(rawValue: 0x0000)
    /// Two symbols for a bit.
    public static let s2 = LECodedPHYOption(rawValue: 0x0001)
    /// Eight symbols for a bit.
    public static let s8 = LECodedPHYOption(rawValue: 0x0002)

    static let names: [UInt16: String] = [
        0x0000: "no preference",
        0x0001: "S=2",
        0x0002: "S=8",
    ]
}
