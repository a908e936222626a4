import BluetoothTypes

/// What the packets of a train hold (Core Vol 4 Part E 7.8.61).
package struct LEPeriodicProperties: WireFlags {
    package var rawValue: UInt16

    /// Any bits, known or not.
    package init(rawValue: UInt16) {
        self.rawValue = rawValue
    }

    /// The transmit power.
    package static let includeTxPower = bit(6)

    /// The names of the bits, for a log.
    package static let names: [(flag: LEPeriodicProperties, name: String)] = [
        (.includeTxPower, "TX power")
    ]
}

/// Whether a set has a train (Core Vol 4 Part E 7.8.63).
package struct LEPeriodicEnable: WireFlags {
    package var rawValue: UInt8

    /// Any bits, known or not.
    package init(rawValue: UInt8) {
        self.rawValue = rawValue
    }

    /// It has.
    package static let enable = bit(0)
    /// The packets hold ADI.
    package static let includeInfo = bit(1)

    /// The names of the bits, for a log.
    package static let names: [(flag: LEPeriodicEnable, name: String)] = [
        (.enable, "enable"),
        (.includeInfo, "ADI"),
    ]
}

/// How a train is looked for (Core Vol 4 Part E 7.8.67).
package struct LEPeriodicSyncOptions: WireFlags {
    package var rawValue: UInt8

    /// Any bits, known or not.
    package init(rawValue: UInt8) {
        self.rawValue = rawValue
    }

    /// One of the periodic advertiser list, and not the one that is named.
    package static let usesList = bit(0)
    /// Nothing of it is reported at first.
    package static let withoutReports = bit(1)
    /// The same data are reported once at first.
    package static let filtersDuplicates = bit(2)

    /// The names of the bits, for a log.
    package static let names: [(flag: LEPeriodicSyncOptions, name: String)] = [
        (.usesList, "list"),
        (.withoutReports, "without reports"),
        (.filtersDuplicates, "filters duplicates"),
    ]
}

/// Whether a train is reported (Core Vol 4 Part E 7.8.88).
package struct LEPeriodicReceiving: WireFlags {
    package var rawValue: UInt8

    /// Any bits, known or not.
    package init(rawValue: UInt8) {
        self.rawValue = rawValue
    }

    /// It is.
    package static let reports = bit(0)
    /// The same data are reported once.
    package static let filtersDuplicates = bit(1)

    /// The names of the bits, for a log.
    package static let names: [(flag: LEPeriodicReceiving, name: String)] = [
        (.reports, "reports"),
        (.filtersDuplicates, "filters duplicates"),
    ]
}

/// What a controller does with trains that a peer tells of (Core Vol 4 Part E 7.8.91).
package struct LESyncTransferMode: NamedWireValue {
    package var rawValue: UInt8

    /// Any number, known or not.
    package init(rawValue: UInt8) {
        self.rawValue = rawValue
    }

    /// The name for a log; the number in hexadecimal when it has none.
    package var description: String { named }

    /// Nothing.
    package static let ignore = LESyncTransferMode(rawValue: 0x00)
    /// It follows them, and reports nothing of them.
    package static let withoutReports = LESyncTransferMode(rawValue: 0x01)
    /// It follows and reports them.
    package static let reports = LESyncTransferMode(rawValue: 0x02)
    /// The same, and reports the same data once.
    package static let filtersDuplicates = LESyncTransferMode(rawValue: 0x03)

    static let names: [UInt8: String] = [
        0x00: "ignore",
        0x01: "without reports",
        0x02: "reports",
        0x03: "filters duplicates",
    ]
}

/// Whether data of a train are whole (Core Vol 4 Part E 7.7.65.15).
package struct LEPeriodicDataStatus: NamedWireValue {
    package var rawValue: UInt8

    /// Any number, known or not.
    package init(rawValue: UInt8) {
        self.rawValue = rawValue
    }

    /// The name for a log; the number in hexadecimal when it has none.
    package var description: String { named }

    /// They are, or their last part is.
    package static let complete = LEPeriodicDataStatus(rawValue: 0x00)
    /// Other parts follow.
    package static let moreToCome = LEPeriodicDataStatus(rawValue: 0x01)
    /// No other part comes.
    package static let truncated = LEPeriodicDataStatus(rawValue: 0x02)
    /// The packet was not heard.
    package static let lost = LEPeriodicDataStatus(rawValue: 0xFF)

    static let names: [UInt8: String] = [
        0x00: "complete",
        0x01: "more to come",
        0x02: "truncated",
        0xFF: "lost",
    ]
}
