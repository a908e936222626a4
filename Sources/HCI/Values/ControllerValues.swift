import BluetoothTypes

/// A version of the Core specification (Assigned Numbers 2.1).
package struct SpecificationVersion: NamedWireValue, Comparable {
    package var rawValue: UInt8

    /// Any number, known or not.
    package init(rawValue: UInt8) {
        self.rawValue = rawValue
    }

    /// The name for a log; the number in hexadecimal when it has none.
    package var description: String { named }

    /// Version 1.0.
    package static let v1_0 = SpecificationVersion(rawValue: 0x00)
    /// Version 1.1.
    package static let v1_1 = SpecificationVersion(rawValue: 0x01)
    /// Version 1.2.
    package static let v1_2 = SpecificationVersion(rawValue: 0x02)
    /// Version 2.0.
    package static let v2_0 = SpecificationVersion(rawValue: 0x03)
    /// Version 2.1.
    package static let v2_1 = SpecificationVersion(rawValue: 0x04)
    /// Version 3.0.
    package static let v3_0 = SpecificationVersion(rawValue: 0x05)
    /// Version 4.0.
    package static let v4_0 = SpecificationVersion(rawValue: 0x06)
    /// Version 4.1.
    package static let v4_1 = SpecificationVersion(rawValue: 0x07)
    /// Version 4.2.
    package static let v4_2 = SpecificationVersion(rawValue: 0x08)
    /// Version 5.0.
    package static let v5_0 = SpecificationVersion(rawValue: 0x09)
    /// Version 5.1.
    package static let v5_1 = SpecificationVersion(rawValue: 0x0A)
    /// Version 5.2.
    package static let v5_2 = SpecificationVersion(rawValue: 0x0B)
    /// Version 5.3.
    package static let v5_3 = SpecificationVersion(rawValue: 0x0C)
    /// Version 5.4.
    package static let v5_4 = SpecificationVersion(rawValue: 0x0D)
    /// Version 6.0.
    package static let v6_0 = SpecificationVersion(rawValue: 0x0E)
    /// Version 6.1.
    package static let v6_1 = SpecificationVersion(rawValue: 0x0F)
    /// Version 6.2.
    package static let v6_2 = SpecificationVersion(rawValue: 0x10)

    /// The earlier version is the smaller one.
    package static func < (a: SpecificationVersion, b: SpecificationVersion) -> Bool { a.rawValue < b.rawValue }

    static let names: [UInt8: String] = [
        0x00: "1.0",
        0x01: "1.1",
        0x02: "1.2",
        0x03: "2.0",
        0x04: "2.1",
        0x05: "3.0",
        0x06: "4.0",
        0x07: "4.1",
        0x08: "4.2",
        0x09: "5.0",
        0x0A: "5.1",
        0x0B: "5.2",
        0x0C: "5.3",
        0x0D: "5.4",
        0x0E: "6.0",
        0x0F: "6.1",
        0x10: "6.2",
    ]
}

/// The first page of what a controller can do (Core Vol 2 Part C 3.3). The bits that matter to LE have names.
package struct LMPFeatures: WireFlags {
    package var rawValue: UInt64

    /// Any bits, known or not.
    package init(rawValue: UInt64) {
        self.rawValue = rawValue
    }

    /// There is no BR/EDR.
    package static let brEdrNotSupported = bit(37)
    /// There is LE.
    package static let leController = bit(38)
    /// LE and BR/EDR to one peer at once.
    package static let simultaneousLEAndBREDR = bit(49)
    /// There are more pages of features.
    package static let extendedFeatures = bit(63)

    /// The names of the bits, for a log.
    package static let names: [(flag: LMPFeatures, name: String)] = [
        (.brEdrNotSupported, "BR/EDR not supported"),
        (.leController, "LE"),
        (.simultaneousLEAndBREDR, "LE and BR/EDR to one peer"),
        (.extendedFeatures, "extended features"),
    ]
}

/// Which transmit power to read (Core Vol 4 Part E 7.3.35).
package struct TransmitPowerKind: NamedWireValue {
    package var rawValue: UInt8

    /// Any number, known or not.
    package init(rawValue: UInt8) {
        self.rawValue = rawValue
    }

    /// The name for a log; the number in hexadecimal when it has none.
    package var description: String { named }

    /// The one in use.
    package static let current = TransmitPowerKind(rawValue: 0x00)
    /// The highest one.
    package static let maximum = TransmitPowerKind(rawValue: 0x01)

    static let names: [UInt8: String] = [
        0x00: "current",
        0x01: "maximum",
    ]
}

/// Which private key a shared secret is computed with (Core Vol 4 Part E 7.8.37).
package struct LEPrivateKeyKind: NamedWireValue {
    package var rawValue: UInt8

    /// Any number, known or not.
    package init(rawValue: UInt8) {
        self.rawValue = rawValue
    }

    /// The name for a log; the number in hexadecimal when it has none.
    package var description: String { named }

    /// The one that LE Read Local P-256 Public Key has drawn.
    package static let generated = LEPrivateKeyKind(rawValue: 0x00)
    /// The debug key, which everybody knows.
    package static let debug = LEPrivateKeyKind(rawValue: 0x01)

    static let names: [UInt8: String] = [
        0x00: "generated",
        0x01: "debug",
    ]
}
