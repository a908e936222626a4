import BluetoothTypes

/// Whether a scanner sends scan requests (Core Vol 4 Part E 7.8.10).
package struct LEScanKind: NamedWireValue {
    package var rawValue: UInt8
    package init(rawValue: UInt8) { self.rawValue = rawValue }

    /// Only receives, without scan requests.
    package static let passive = LEScanKind(rawValue: 0x00)
    /// Sends scan requests, and reports the responses.
    package static let active = LEScanKind(rawValue: 0x01)

    package static let names = ["passive", "active"]
}

/// The advertisements that a scanner reports (Core Vol 4 Part E 7.8.10).
package struct LEScanFilterPolicy: NamedWireValue {
    package var rawValue: UInt8
    package init(rawValue: UInt8) { self.rawValue = rawValue }

    /// All, except directed ones with another target.
    package static let unfiltered = LEScanFilterPolicy(rawValue: 0x00)
    /// Those of devices on the accept list, except directed ones with another target.
    package static let acceptListOnly = LEScanFilterPolicy(rawValue: 0x01)
    /// All, including directed ones whose target is an unresolved resolvable private address.
    package static let unfilteredWithUnresolvedDirected = LEScanFilterPolicy(rawValue: 0x02)
    /// Those of devices on the accept list, including directed ones whose target is an unresolved resolvable private
    /// address.
    package static let acceptListAndUnresolvedDirected = LEScanFilterPolicy(rawValue: 0x03)

    package static let names = [
        "everybody",
        "accept list only",
        "everybody and unresolved directed",
        "accept list and unresolved directed",
    ]
}

/// The duplicate filter of a scan (Core Vol 4 Part E 7.8.65).
package struct LEDuplicateFilter: NamedWireValue {
    package var rawValue: UInt8
    package init(rawValue: UInt8) { self.rawValue = rawValue }

    package static let disabled = LEDuplicateFilter(rawValue: 0x00)
    package static let enabled = LEDuplicateFilter(rawValue: 0x01)
    /// Duplicates are not reported within a scan period; for extended scanning only.
    package static let enabledPerPeriod = LEDuplicateFilter(rawValue: 0x02)

    package static let names = ["disabled", "enabled", "enabled per period"]
}

/// The PDU type in a legacy advertising report (Core Vol 4 Part E 7.7.65.2).
package struct LEAdvertisingReportKind: NamedWireValue {
    package var rawValue: UInt8
    package init(rawValue: UInt8) { self.rawValue = rawValue }

    /// Connectable and scannable, undirected.
    package static let connectableScannable = LEAdvertisingReportKind(rawValue: 0x00)
    /// Connectable, and directed to one device.
    package static let directed = LEAdvertisingReportKind(rawValue: 0x01)
    /// Scannable and undirected, but not connectable.
    package static let scannable = LEAdvertisingReportKind(rawValue: 0x02)
    /// Neither connectable nor scannable, undirected.
    package static let nonConnectable = LEAdvertisingReportKind(rawValue: 0x03)
    package static let scanResponse = LEAdvertisingReportKind(rawValue: 0x04)

    package static let names = ["ADV_IND", "ADV_DIRECT_IND", "ADV_SCAN_IND", "ADV_NONCONN_IND", "SCAN_RSP"]
}

/// The properties of an advertisement in an extended advertising report (Core Vol 4 Part E 7.7.65.13).
package struct LEExtendedReportKind: WireFlags {
    package var rawValue: UInt16
    package init(rawValue: UInt16) { self.rawValue = rawValue }

    package static let connectable = bit(0)
    package static let scannable = bit(1)
    package static let directed = bit(2)
    package static let scanResponse = bit(3)
    package static let legacy = bit(4)

    /// Whether the data is complete: bits 5 and 6.
    package enum DataStatus: UInt16, Sendable {
        /// The data is complete with this report.
        case complete = 0
        /// Further reports with data of the same advertisement follow.
        case moreToCome = 1
        /// The data is truncated: the controller has lost the rest.
        case truncated = 2
        /// Reserved for future use.
        case reserved = 3
    }

    package var dataStatus: DataStatus {
        get { DataStatus(rawValue: rawValue >> 5 & 0b11) ?? .reserved }
        set { rawValue = rawValue & ~0b110_0000 | newValue.rawValue << 5 }
    }

    package static let names: [(flag: LEExtendedReportKind, name: String)] = [
        (.connectable, "connectable"),
        (.scannable, "scannable"),
        (.directed, "directed"),
        (.scanResponse, "scan response"),
        (.legacy, "legacy"),
    ]
}
