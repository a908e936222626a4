import BluetoothTypes

/// Whether a scanner asks for scan responses (Core Vol 4 Part E 7.8.10).
package struct LEScanKind: NamedWireValue {
    package var rawValue: UInt8

    /// Any number, known or not.
    package init(rawValue: UInt8) {
        self.rawValue = rawValue
    }

    /// The name for a log; the number in hexadecimal when it has none.
    package var description: String { named }

    /// It only listens.
    package static let passive = LEScanKind(rawValue: 0x00)
    /// It sends scan requests.
    package static let active = LEScanKind(rawValue: 0x01)

    static let names: [UInt8: String] = [
        0x00: "passive",
        0x01: "active",
    ]
}

/// Whose advertisements a scanner reports (Core Vol 4 Part E 7.8.10).
package struct LEScanFilterPolicy: NamedWireValue {
    package var rawValue: UInt8

    /// Any number, known or not.
    package init(rawValue: UInt8) {
        self.rawValue = rawValue
    }

    /// The name for a log; the number in hexadecimal when it has none.
    package var description: String { named }

    /// All, except directed ones to others.
    package static let everybody = LEScanFilterPolicy(rawValue: 0x00)
    /// Those on the accept list, except directed ones to others.
    package static let acceptListOnly = LEScanFilterPolicy(rawValue: 0x01)
    /// All, with directed ones to a resolvable private address that is not resolved.
    package static let everybodyAndUnresolvedDirected = LEScanFilterPolicy(rawValue: 0x02)
    /// Those on the accept list, with directed ones to a resolvable private address that is not resolved.
    package static let acceptListAndUnresolvedDirected = LEScanFilterPolicy(rawValue: 0x03)

    static let names: [UInt8: String] = [
        0x00: "everybody",
        0x01: "accept list only",
        0x02: "everybody and unresolved directed",
        0x03: "accept list and unresolved directed",
    ]
}

/// Whether a controller reports an advertiser once or each time (Core Vol 4 Part E 7.8.65).
package struct LEDuplicateFilter: NamedWireValue {
    package var rawValue: UInt8

    /// Any number, known or not.
    package init(rawValue: UInt8) {
        self.rawValue = rawValue
    }

    /// The name for a log; the number in hexadecimal when it has none.
    package var description: String { named }

    /// Every advertisement is reported.
    package static let disabled = LEDuplicateFilter(rawValue: 0x00)
    /// Duplicates are left out.
    package static let enabled = LEDuplicateFilter(rawValue: 0x01)
    /// Duplicates are left out within each scan period. Extended scanning only.
    package static let enabledPerPeriod = LEDuplicateFilter(rawValue: 0x02)

    static let names: [UInt8: String] = [
        0x00: "disabled",
        0x01: "enabled",
        0x02: "enabled per period",
    ]
}

/// The PDU behind a legacy advertising report (Core Vol 4 Part E 7.7.65.2).
package struct LEAdvertisingReportKind: NamedWireValue {
    package var rawValue: UInt8

    /// Any number, known or not.
    package init(rawValue: UInt8) {
        self.rawValue = rawValue
    }

    /// The name for a log; the number in hexadecimal when it has none.
    package var description: String { named }

    /// Connectable and scannable, undirected.
    package static let connectableScannable = LEAdvertisingReportKind(rawValue: 0x00)
    /// Connectable and directed.
    package static let directed = LEAdvertisingReportKind(rawValue: 0x01)
    /// Scannable, undirected.
    package static let scannable = LEAdvertisingReportKind(rawValue: 0x02)
    /// Neither connectable nor scannable, undirected.
    package static let nonConnectable = LEAdvertisingReportKind(rawValue: 0x03)
    /// A scan response.
    package static let scanResponse = LEAdvertisingReportKind(rawValue: 0x04)

    static let names: [UInt8: String] = [
        0x00: "ADV_IND",
        0x01: "ADV_DIRECT_IND",
        0x02: "ADV_SCAN_IND",
        0x03: "ADV_NONCONN_IND",
        0x04: "SCAN_RSP",
    ]
}

/// What an extended advertising report is about (Core Vol 4 Part E 7.7.65.13).
package struct LEExtendedReportKind: WireFlags {
    package var rawValue: UInt16

    /// Any bits, known or not.
    package init(rawValue: UInt16) {
        self.rawValue = rawValue
    }

    /// The advertiser can be connected to.
    package static let connectable = bit(0)
    /// The advertiser answers scan requests.
    package static let scannable = bit(1)
    /// The advertisement is meant for one peer.
    package static let directed = bit(2)
    /// The data are a scan response.
    package static let scanResponse = bit(3)
    /// The PDU was one of legacy advertising.
    package static let legacy = bit(4)

    /// How much of the data a report holds: bits 5 and 6.
    package enum DataStatus: UInt16, Sendable {
        /// The data end with this report.
        case complete = 0
        /// More reports with data of the same advertisement follow.
        case moreToCome = 1
        /// The data end with this report, but the controller has lost the rest.
        case truncated = 2
        /// Reserved for future use.
        case reserved = 3
    }

    /// How much of the data the report holds.
    package var dataStatus: DataStatus {
        get { DataStatus(rawValue: rawValue >> 5 & 0b11) ?? .reserved }
        set { rawValue = rawValue & ~0b110_0000 | newValue.rawValue << 5 }
    }

    /// The names of the bits, for a log.
    package static let names: [(flag: LEExtendedReportKind, name: String)] = [
        (.connectable, "connectable"),
        (.scannable, "scannable"),
        (.directed, "directed"),
        (.scanResponse, "scan response"),
        (.legacy, "legacy"),
    ]
}
