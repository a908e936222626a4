import BluetoothTypes

/// Transfers to a peer the synchronization with a train that this device follows (Core Vol 4 Part E 7.8.89).
package struct LEPeriodicAdvertisingSyncTransfer: HCICommand {
    package typealias Response = StatusAndHandle

    package static let entry = CommandEntry(.le, 0x5A, "LE Periodic Advertising Sync Transfer", bit: (40, 6))

    package var handle = ConnectionHandle(rawValue: 0)
    /// A value for the peer's host.
    package var serviceData: UInt16 = 0
    package var sync: UInt16 = 0

    package init() {}

    package init(handle: ConnectionHandle, serviceData: UInt16, sync: UInt16) {
        (self.handle, self.serviceData, self.sync) = (handle, serviceData, sync)
    }

    package mutating func code<C: FieldCoder>(_ coder: inout C) throws(PacketError) {
        try coder.field("Connection_Handle", &handle)
        try coder.field("Service_Data", &serviceData)
        try coder.field("Sync_Handle", &sync)
    }
}

/// Transfers to a peer the synchronization with a train of this device (Core Vol 4 Part E 7.8.90).
package struct LEPeriodicAdvertisingSetInfoTransfer: HCICommand {
    package typealias Response = StatusAndHandle

    package static let entry = CommandEntry(.le, 0x5B, "LE Periodic Advertising Set Info Transfer", bit: (40, 7))

    package var handle = ConnectionHandle(rawValue: 0)
    /// A value for the peer's host.
    package var serviceData: UInt16 = 0
    package var set: UInt8 = 0

    package init() {}

    package init(handle: ConnectionHandle, serviceData: UInt16, set: UInt8) {
        (self.handle, self.serviceData, self.set) = (handle, serviceData, set)
    }

    package mutating func code<C: FieldCoder>(_ coder: inout C) throws(PacketError) {
        try coder.field("Connection_Handle", &handle)
        try coder.field("Service_Data", &serviceData)
        try coder.field("Advertising_Handle", &set)
    }
}

/// Selects how the controller handles synchronizations that a peer transfers (Core Vol 4 Part E 7.8.91).
package struct LESetPeriodicAdvertisingSyncTransferParameters: HCICommand {
    package typealias Response = StatusAndHandle

    package static let entry = CommandEntry(
        .le,
        0x5C,
        "LE Set Periodic Advertising Sync Transfer Parameters",
        bit: (41, 0)
    )

    package var handle = ConnectionHandle(rawValue: 0)
    package var parameters = LESetDefaultPeriodicAdvertisingSyncTransferParameters()

    package init() {}

    package init(handle: ConnectionHandle, _ parameters: LESetDefaultPeriodicAdvertisingSyncTransferParameters) {
        (self.handle, self.parameters) = (handle, parameters)
    }

    package mutating func code<C: FieldCoder>(_ coder: inout C) throws(PacketError) {
        try coder.field("Connection_Handle", &handle)
        try parameters.code(&coder)
    }
}

/// Selects how the controller handles synchronizations that the peers of future connections transfer (Core Vol 4 Part E
/// 7.8.92).
package struct LESetDefaultPeriodicAdvertisingSyncTransferParameters: HCICommand {
    package static let entry = CommandEntry(
        .le,
        0x5D,
        "LE Set Default Periodic Advertising Sync Transfer Parameters",
        bit: (41, 1)
    )

    package var mode = LESyncTransferMode(rawValue: 0)
    /// The number of periodic advertising events that may be skipped after a received one, 0 to 0x01F3.
    package var skip: UInt16 = 0
    /// The synchronization timeout, in units of 10 ms, 0x000A to 0x4000.
    package var timeout: UInt16 = 0
    /// The types of Constant Tone Extension that the train must not have.
    package var toneKinds: UInt8 = 0

    package init() {}

    package init(mode: LESyncTransferMode, skip: UInt16, timeout: UInt16, toneKinds: UInt8) {
        (self.mode, self.skip, self.timeout, self.toneKinds) = (mode, skip, timeout, toneKinds)
    }

    package mutating func code<C: FieldCoder>(_ coder: inout C) throws(PacketError) {
        try coder.field("Mode", &mode)
        try coder.field("Skip", &skip)
        try coder.field("Sync_Timeout", &timeout)
        try coder.field("CTE_Type", &toneKinds)
    }
}
