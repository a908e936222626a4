import BluetoothTypes

/// LE Periodic Advertising Create Sync (Core Vol 4 Part E 7.8.67): synchronizes with a train as soon as a scan finds
/// it. LE Periodic Advertising Sync Established follows.
package struct LEPeriodicAdvertisingCreateSync: HCICommand {
    package static var opcode: Opcode { Opcode(group: 0x08, command: 0x0044) }
    package static var name: String { "LE Periodic Advertising Create Sync" }
    package static var isAnsweredByStatus: Bool { true }
    package static var supportBit: SupportedCommands.Bit? { .init(octet: 38, bit: 0) }

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

    package init(
        options: LEPeriodicSyncOptions,
        sid: UInt8,
        address: BluetoothAddress,
        skip: UInt16,
        timeout: UInt16,
        toneKinds: UInt8
    ) {
        self.options = options
        self.sid = sid
        self.address = address
        self.skip = skip
        self.timeout = timeout
        self.toneKinds = toneKinds
    }

    package mutating func code<C: FieldCoder>(_ coder: inout C) throws(PacketError) {
        try coder.field("Options", &options)
        try coder.field("Advertising_SID", &sid)
        try coder.typedAddress("Advertiser_Address_Type", "Advertiser_Address", &address)
        try coder.field("Skip", &skip)
        try coder.field("Sync_Timeout", &timeout)
        try coder.field("Sync_CTE_Type", &toneKinds)
    }
}

/// LE Periodic Advertising Create Sync Cancel (Core Vol 4 Part E 7.8.68): cancels a pending synchronization.
package struct LEPeriodicAdvertisingCreateSyncCancel: HCICommand {
    package static var opcode: Opcode { Opcode(group: 0x08, command: 0x0045) }
    package static var name: String { "LE Periodic Advertising Create Sync Cancel" }
    package static var supportBit: SupportedCommands.Bit? { .init(octet: 38, bit: 1) }

    package init() {}

    package mutating func code<C: FieldCoder>(_ coder: inout C) throws(PacketError) {}
}

/// LE Periodic Advertising Terminate Sync (Core Vol 4 Part E 7.8.69): ends the synchronization with a train.
package struct LEPeriodicAdvertisingTerminateSync: HCICommand {
    package static var opcode: Opcode { Opcode(group: 0x08, command: 0x0046) }
    package static var name: String { "LE Periodic Advertising Terminate Sync" }
    package static var supportBit: SupportedCommands.Bit? { .init(octet: 38, bit: 2) }

    /// The sync handle, 0x0000 to 0x0EFF.
    package var sync: UInt16 = 0

    package init() {}

    package init(sync: UInt16) {
        self.sync = sync
    }

    package mutating func code<C: FieldCoder>(_ coder: inout C) throws(PacketError) {
        try coder.field("Sync_Handle", &sync)
    }
}

/// LE Set Periodic Advertising Receive Enable (Core Vol 4 Part E 7.8.88): starts or stops the reports of a train.
package struct LESetPeriodicAdvertisingReceiveEnable: HCICommand {
    package static var opcode: Opcode { Opcode(group: 0x08, command: 0x0059) }
    package static var name: String { "LE Set Periodic Advertising Receive Enable" }
    package static var supportBit: SupportedCommands.Bit? { .init(octet: 40, bit: 5) }

    /// The sync handle, 0x0000 to 0x0EFF.
    package var sync: UInt16 = 0
    /// Whether the train is reported, and how.
    package var enable: LEPeriodicReceiving = []

    package init() {}

    package init(sync: UInt16, enable: LEPeriodicReceiving) {
        self.sync = sync
        self.enable = enable
    }

    package mutating func code<C: FieldCoder>(_ coder: inout C) throws(PacketError) {
        try coder.field("Sync_Handle", &sync)
        try coder.field("Enable", &enable)
    }
}
