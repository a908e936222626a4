import BluetoothTypes

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
