import BluetoothTypes
import HCI

/// Periodic Advertising Response Timing Information (CSS Part A 1.24): the subevents and response slots of a train. It
/// is contained in ACAD next to SyncInfo, and follows it in LL_PERIODIC_SYNC_WR_IND.
struct ResponseTiming: PacketFields, Hashable {
    /// The AD type of this structure in ACAD.
    static let kind: UInt8 = 0x32
    /// The length after the AD type, in octets.
    static let size = 8

    /// RspAA: the access address of responses.
    var accessAddress: UInt32 = 0
    /// The division of an event into subevents and response slots.
    var timing = LESubeventTiming()

    mutating func code<C: FieldCoder>(_ coder: inout C) throws(PacketError) {
        try coder.field("RspAA", &accessAddress)
        try timing.code(&coder)
    }

    // MARK: ACAD

    /// The AD structure for ACAD: length, AD type, data.
    var controllerData: PacketBuffer {
        var data: PacketBuffer = [UInt8(Self.size + 1), Self.kind]
        data.append(contentsOf: encoded())
        return data
    }

    /// Returns the response timing contained in ACAD; nil for a train without responses.
    ///
    /// - Throws: ``PacketError`` if ACAD is malformed.
    static func find(in controllerData: PacketBuffer) throws(PacketError) -> ResponseTiming? {
        var rest = controllerData
        while let length = rest.first {
            let structure = rest.suffix(after: 1).prefix(upTo: Int(length))
            guard structure.count == Int(length) else {
                throw PacketError(.truncated(needed: Int(length), available: structure.count), at: "ACAD")
            }
            if structure.first == kind { return try ResponseTiming(reading: structure.suffix(after: 1)) }
            rest = rest.suffix(after: 1 + Int(length))
        }
        return nil
    }
}

extension LESubeventTiming {
    /// The unit of subevent intervals and slot delays, in microseconds.
    static let unit: Int64 = 1_250
    /// The unit of the response slot spacing, in microseconds.
    static let slotUnit: Int64 = 125
    /// The maximum number of subevents of an event (Core Vol 4 Part E 7.8.61).
    static let maximumSubevents = 128

    /// Returns the time from the start of an event to that of a subevent, in microseconds.
    func start(of subevent: UInt8) -> Int64 { Int64(subevent) * Int64(interval) * Self.unit }

    /// Returns the time from the start of a subevent to that of a response slot, in microseconds.
    func start(ofSlot slot: UInt8) -> Int64 {
        Int64(responseSlotDelay) * Self.unit + Int64(slot) * slotLength
    }

    /// The time from the start of one slot to the next, in microseconds.
    var slotLength: Int64 { Int64(responseSlotSpacing) * Self.slotUnit }

    /// The maximum duration of AUX_SYNC_SUBEVENT_IND, in microseconds: it ends before the first slot, and before the
    /// next subevent.
    var requestTime: Int64 {
        Int64(responseSlotDelay == 0 ? interval : responseSlotDelay) * Self.unit - LinkTiming.interFrameSpace
    }

    /// The maximum duration of a response, in microseconds.
    var responseTime: Int64 { slotLength - LinkTiming.interFrameSpace }

    /// Whether a slot fits into the subevent.
    func hasSlot(_ slot: UInt8) -> Bool {
        responseSlotDelay > 0 && start(ofSlot: slot) + slotLength <= Int64(interval) * Self.unit
    }

    /// Whether the timing is valid for a train with this interval (Core Vol 4 Part E 7.8.61).
    func isUsable(within trainInterval: UInt16) -> Bool {
        let slots = responseSlotDelay == 0 || responseSlotDelay < interval && responseSlotSpacing >= 2
        return (1...Self.maximumSubevents).contains(Int(subevents)) && interval >= 6 && slots
            && UInt32(interval) * UInt32(subevents) <= UInt32(trainInterval)
    }
}
