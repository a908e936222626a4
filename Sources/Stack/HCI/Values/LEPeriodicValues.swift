import BluetoothTypes

/// The optional fields in the packets of a train (Core Vol 4 Part E 7.8.61).
package struct LEPeriodicProperties: WireFlags {
    package var rawValue: UInt16
    package init(rawValue: UInt16) { self.rawValue = rawValue }

    package static let includeTxPower = bit(6)

    package static let names: [(flag: LEPeriodicProperties, name: String)] = [
        (.includeTxPower, "TX power")
    ]
}

/// Whether the train of a set is enabled, and its options (Core Vol 4 Part E 7.8.63).
package struct LEPeriodicEnable: WireFlags {
    package var rawValue: UInt8
    package init(rawValue: UInt8) { self.rawValue = rawValue }

    package static let enable = bit(0)
    package static let includeInfo = bit(1)

    package static let names: [(flag: LEPeriodicEnable, name: String)] = [
        (.enable, "enable"),
        (.includeInfo, "ADI"),
    ]
}

/// The options of a synchronization with a train (Core Vol 4 Part E 7.8.67).
package struct LEPeriodicSyncOptions: WireFlags {
    package var rawValue: UInt8
    package init(rawValue: UInt8) { self.rawValue = rawValue }

    /// Synchronizes with a train on the periodic advertiser list instead of the one given in the command.
    package static let usesList = bit(0)
    /// Reports are disabled initially.
    package static let withoutReports = bit(1)
    /// Duplicate filtering is enabled initially.
    package static let filtersDuplicates = bit(2)

    package static let names: [(flag: LEPeriodicSyncOptions, name: String)] = [
        (.usesList, "list"),
        (.withoutReports, "without reports"),
        (.filtersDuplicates, "filters duplicates"),
    ]
}

/// Whether a train is reported, and how (Core Vol 4 Part E 7.8.88).
package struct LEPeriodicReceiving: WireFlags {
    package var rawValue: UInt8
    package init(rawValue: UInt8) { self.rawValue = rawValue }

    package static let reports = bit(0)
    package static let filtersDuplicates = bit(1)

    package static let names: [(flag: LEPeriodicReceiving, name: String)] = [
        (.reports, "reports"),
        (.filtersDuplicates, "filters duplicates"),
    ]
}

/// How a controller handles the synchronizations that a peer transfers (Core Vol 4 Part E 7.8.91).
package struct LESyncTransferMode: NamedWireValue {
    package var rawValue: UInt8
    package init(rawValue: UInt8) { self.rawValue = rawValue }

    /// Ignores them without notifying the host.
    package static let ignore = LESyncTransferMode(rawValue: 0x00)
    package static let withoutReports = LESyncTransferMode(rawValue: 0x01)
    package static let reports = LESyncTransferMode(rawValue: 0x02)
    /// Synchronizes with the trains, with reports and duplicate filtering.
    package static let filtersDuplicates = LESyncTransferMode(rawValue: 0x03)

    package static let names = ["ignore", "without reports", "reports", "filters duplicates"]
}

/// Whether the data in a report is complete (Core Vol 4 Part E 7.7.65.15).
package struct LEPeriodicDataStatus: WireValue, CustomStringConvertible {
    package var rawValue: UInt8
    package init(rawValue: UInt8) { self.rawValue = rawValue }

    /// The data is complete, or this is its last fragment.
    package static let complete = LEPeriodicDataStatus(rawValue: 0x00)
    /// The data is incomplete; further fragments follow.
    package static let moreToCome = LEPeriodicDataStatus(rawValue: 0x01)
    /// The data is truncated; no further fragments follow.
    package static let truncated = LEPeriodicDataStatus(rawValue: 0x02)
    /// The packet was not received.
    package static let lost = LEPeriodicDataStatus(rawValue: 0xFF)

    /// The name, or the number in hexadecimal if the value has no name.
    package var description: String { Self.names[rawValue] ?? "0x" + String(rawValue, radix: 16) }

    private static let names: [UInt8: String] = [
        0x00: "complete",
        0x01: "more to come",
        0x02: "truncated",
        0xFF: "lost",
    ]
}

/// The division of periodic advertising events into subevents and response slots (Core Vol 4 Part E 7.8.61, 7.7.65.14,
/// 7.7.65.24). All zeros for a train without responses.
package struct LESubeventTiming: PacketFields, Hashable, Sendable {
    /// The number of subevents in each event, 1 to 128; 0 for a train without responses.
    package var subevents: UInt8 = 0
    /// The time from the start of one subevent to the start of the next, in units of 1.25 ms, 6 to 255.
    package var interval: UInt8 = 0
    /// The time from the start of a subevent to its first response slot, in units of 1.25 ms, 1 to 254; 0 without
    /// slots.
    package var responseSlotDelay: UInt8 = 0
    /// The time from the start of one response slot to the start of the next, in units of 0.125 ms, 2 to 255; 0 without
    /// slots.
    package var responseSlotSpacing: UInt8 = 0

    package init() {}

    package init(subevents: UInt8, interval: UInt8, responseSlotDelay: UInt8, responseSlotSpacing: UInt8) {
        self.subevents = subevents
        self.interval = interval
        self.responseSlotDelay = responseSlotDelay
        self.responseSlotSpacing = responseSlotSpacing
    }

    package mutating func code<C: FieldCoder>(_ coder: inout C) throws(PacketError) {
        try coder.field("Num_Subevents", &subevents)
        try coder.field("Subevent_Interval", &interval)
        try coder.field("Response_Slot_Delay", &responseSlotDelay)
        try coder.field("Response_Slot_Spacing", &responseSlotSpacing)
    }
}
