import BluetoothTypes

/// One of the physical layers (Core Vol 4 Part E 7.8.47).
package struct LEPHY: NamedWireValue {
    package var rawValue: UInt8

    /// Any number, known or not.
    package init(rawValue: UInt8) {
        self.rawValue = rawValue
    }

    /// The name for a log; the number in hexadecimal when it has none.
    package var description: String { named }

    /// None: there is no secondary channel.
    package static let none = LEPHY(rawValue: 0x00)
    /// One million symbols in a second.
    package static let le1M = LEPHY(rawValue: 0x01)
    /// Two million symbols in a second.
    package static let le2M = LEPHY(rawValue: 0x02)
    /// The coded one, for long range.
    package static let coded = LEPHY(rawValue: 0x03)

    static let names: [UInt8: String] = [
        0x00: "none",
        0x01: "1M",
        0x02: "2M",
        0x03: "Coded",
    ]
}

/// Some of the physical layers (Core Vol 4 Part E 7.8.48).
package struct LEPHYs: WireFlags {
    package var rawValue: UInt8

    /// Any bits, known or not.
    package init(rawValue: UInt8) {
        self.rawValue = rawValue
    }

    /// One million symbols in a second.
    package static let le1M = bit(0)
    /// Two million symbols in a second.
    package static let le2M = bit(1)
    /// The coded one, for long range.
    package static let coded = bit(2)

    /// The names of the bits, for a log.
    package static let names: [(flag: LEPHYs, name: String)] = [
        (.le1M, "1M"),
        (.le2M, "2M"),
        (.coded, "Coded"),
    ]
}

/// In which directions the host does not care about the PHY (Core Vol 4 Part E 7.8.48).
package struct LEPHYPreference: WireFlags {
    package var rawValue: UInt8

    /// Any bits, known or not.
    package init(rawValue: UInt8) {
        self.rawValue = rawValue
    }

    /// Any PHY to transmit with.
    package static let anyTransmitter = bit(0)
    /// Any PHY to receive with.
    package static let anyReceiver = bit(1)

    /// The names of the bits, for a log.
    package static let names: [(flag: LEPHYPreference, name: String)] = [
        (.anyTransmitter, "any transmitter"),
        (.anyReceiver, "any receiver"),
    ]
}

/// Which coding a transmitter on the Coded PHY prefers (Core Vol 4 Part E 7.8.49).
package struct LECodedPHYOption: NamedWireValue {
    package var rawValue: UInt16

    /// Any number, known or not.
    package init(rawValue: UInt16) {
        self.rawValue = rawValue
    }

    /// The name for a log; the number in hexadecimal when it has none.
    package var description: String { named }

    /// No preference.
    package static let noPreference = LECodedPHYOption(rawValue: 0x0000)
    /// Two symbols for a bit.
    package static let s2 = LECodedPHYOption(rawValue: 0x0001)
    /// Eight symbols for a bit.
    package static let s8 = LECodedPHYOption(rawValue: 0x0002)

    static let names: [UInt16: String] = [
        0x0000: "no preference",
        0x0001: "S=2",
        0x0002: "S=8",
    ]
}
