import BluetoothTypes

/// Synchronizes with a train as soon as a scan finds it (Core Vol 4 Part E 7.8.67). LE Periodic Advertising Sync
/// Established follows.
package struct LEPeriodicAdvertisingCreateSync: HCICommand {
    package static let entry = CommandEntry(.le, 0x44, "LE Periodic Advertising Create Sync", bit: (38, 0), .status)

    /// Whether the periodic advertiser list is used, and what is reported at first.
    package var options: LEPeriodicSyncOptions = []
    /// The advertising SID of the set, 0x00 to 0x0F.
    package var sid: UInt8 = 0
    /// The advertiser's address; ignored if the periodic advertiser list is used.
    package var address = BluetoothAddress.none
    /// The number of periodic advertising events that may be skipped after a received one, 0 to 0x01F3.
    package var skip: UInt16 = 0
    /// The synchronization timeout, in units of 10 ms, 0x000A to 0x4000.
    package var timeout: UInt16 = 0
    /// The types of Constant Tone Extension that the train must not have.
    package var toneKinds: UInt8 = 0

    package init() {}

    package mutating func code<C: FieldCoder>(_ coder: inout C) throws(PacketError) {
        try coder.field("Options", &options)
        try coder.field("Advertising_SID", &sid)
        try coder.typedAddress("Advertiser_Address_Type", "Advertiser_Address", &address)
        try coder.field("Skip", &skip)
        try coder.field("Sync_Timeout", &timeout)
        try coder.field("Sync_CTE_Type", &toneKinds)
    }
}

/// Cancels a pending synchronization (Core Vol 4 Part E 7.8.68).
package struct LEPeriodicAdvertisingCreateSyncCancel: ParameterlessCommand {
    package static let entry = CommandEntry(.le, 0x45, "LE Periodic Advertising Create Sync Cancel", bit: (38, 1))

    package init() {}
}

/// Ends the synchronization with a train (Core Vol 4 Part E 7.8.69).
package struct LEPeriodicAdvertisingTerminateSync: HCICommand {
    package static let entry = CommandEntry(.le, 0x46, "LE Periodic Advertising Terminate Sync", bit: (38, 2))

    package var sync: UInt16 = 0

    package init() {}
    package init(sync: UInt16) { self.sync = sync }

    package mutating func code<C: FieldCoder>(_ coder: inout C) throws(PacketError) {
        try coder.field("Sync_Handle", &sync)
    }
}

/// Starts or stops the reports of a train (Core Vol 4 Part E 7.8.88).
package struct LESetPeriodicAdvertisingReceiveEnable: HCICommand {
    package static let entry = CommandEntry(.le, 0x59, "LE Set Periodic Advertising Receive Enable", bit: (40, 5))

    package var sync: UInt16 = 0
    package var enable: LEPeriodicReceiving = []

    package init() {}
    package init(sync: UInt16, enable: LEPeriodicReceiving) { (self.sync, self.enable) = (sync, enable) }

    package mutating func code<C: FieldCoder>(_ coder: inout C) throws(PacketError) {
        try coder.field("Sync_Handle", &sync)
        try coder.field("Enable", &enable)
    }
}
