import BluetoothTypes

/// The controller has failed (Core Vol 4 Part E 7.7.16).
package struct HardwareError: HCIEvent {
    package static let entry = EventEntry(0x10, "Hardware Error")

    package var code: UInt8 = 0

    package init() {}
    package init(code: UInt8) { self.code = code }

    package mutating func code<C: FieldCoder>(_ coder: inout C) throws(PacketError) {
        try coder.field("Hardware_Code", &code)
    }
}

/// Reports buffers of the controller that have become free (Core Vol 4 Part E 7.7.19).
package struct NumberOfCompletedPackets: HCIEvent {
    package static let entry = EventEntry(0x13, "Number Of Completed Packets")

    package var entries: [CompletedPackets] = []

    package init() {}
    package init(entries: [CompletedPackets]) { self.entries = entries }

    package mutating func code<C: FieldCoder>(_ coder: inout C) throws(PacketError) {
        try coder.list("Num_Handles", "Handle", &entries)
    }
}

/// The host has sent more data than the controller has buffers for (Core Vol 4 Part E 7.7.26).
package struct DataBufferOverflow: HCIEvent {
    package static let entry = EventEntry(0x1A, "Data Buffer Overflow")

    /// 0 for synchronous, 1 for ACL, 2 for isochronous data.
    package var linkKind: UInt8 = 0

    package init() {}
    package init(linkKind: UInt8) { self.linkKind = linkKind }

    package mutating func code<C: FieldCoder>(_ coder: inout C) throws(PacketError) {
        try coder.field("Link_Type", &linkKind)
    }
}
