import BluetoothTypes

/// A physical layer (Core Vol 4 Part E 7.8.47).
package struct LEPHY: NamedWireValue {
    package var rawValue: UInt8
    package init(rawValue: UInt8) { self.rawValue = rawValue }

    /// No PHY, because there is no secondary channel.
    package static let none = LEPHY(rawValue: 0x00)
    /// LE 1M: one million symbols per second.
    package static let le1M = LEPHY(rawValue: 0x01)
    /// LE 2M: two million symbols per second.
    package static let le2M = LEPHY(rawValue: 0x02)
    /// LE Coded, for long range.
    package static let coded = LEPHY(rawValue: 0x03)

    package static let names = ["none", "1M", "2M", "Coded"]
}

/// A set of physical layers (Core Vol 4 Part E 7.8.48).
package struct LEPHYs: WireFlags {
    package var rawValue: UInt8
    package init(rawValue: UInt8) { self.rawValue = rawValue }

    /// LE 1M: one million symbols per second.
    package static let le1M = bit(0)
    /// LE 2M: two million symbols per second.
    package static let le2M = bit(1)
    /// LE Coded, for long range.
    package static let coded = bit(2)

    package static let names: [(flag: LEPHYs, name: String)] = [
        (.le1M, "1M"),
        (.le2M, "2M"),
        (.coded, "Coded"),
    ]
}

/// The directions in which the host has no preference for a PHY (Core Vol 4 Part E 7.8.48).
package struct LEPHYPreference: WireFlags {
    package var rawValue: UInt8
    package init(rawValue: UInt8) { self.rawValue = rawValue }

    package static let anyTransmitter = bit(0)
    package static let anyReceiver = bit(1)

    package static let names: [(flag: LEPHYPreference, name: String)] = [
        (.anyTransmitter, "any transmitter"),
        (.anyReceiver, "any receiver"),
    ]
}

/// The preferred coding of a transmitter on the Coded PHY (Core Vol 4 Part E 7.8.49).
package struct LECodedPHYOption: NamedWireValue {
    package var rawValue: UInt16
    package init(rawValue: UInt16) { self.rawValue = rawValue }

    /// The host prefers neither coding.
    package static let noPreference = LECodedPHYOption(rawValue: 0x0000)
    /// S=2 coding: two symbols per bit.
    package static let s2 = LECodedPHYOption(rawValue: 0x0001)
    /// S=8 coding: eight symbols per bit.
    package static let s8 = LECodedPHYOption(rawValue: 0x0002)

    package static let names = ["no preference", "S=2", "S=8"]
}
