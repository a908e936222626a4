import BluetoothTypes

/// Scanning has reached the end of its duration (Core Vol 4 Part E 7.7.65.17).
package struct LEScanTimeout: HCIEvent {
    package static let entry = EventEntry(le: 0x11, "LE Scan Timeout")

    package init() {}

    package mutating func code<C: FieldCoder>(_ coder: inout C) throws(PacketError) {}
}

/// A set has stopped advertising because of a connection, or because it has reached its limit (Core Vol 4 Part E
/// 7.7.65.18).
package struct LEAdvertisingSetTerminated: HCIEvent {
    package static let entry = EventEntry(le: 0x12, "LE Advertising Set Terminated")

    /// Success after a connection, 0x3C at the end of the duration, 0x43 after the maximum number of events.
    package var status = HCIStatus.success
    package var set: UInt8 = 0
    /// The connection handle; only valid after a connection.
    package var handle = ConnectionHandle(rawValue: 0)
    package var completedEvents: UInt8 = 0

    package init() {}

    package init(status: HCIStatus = .success, set: UInt8, handle: ConnectionHandle, completedEvents: UInt8) {
        (self.status, self.set, self.handle, self.completedEvents) = (status, set, handle, completedEvents)
    }

    package mutating func code<C: FieldCoder>(_ coder: inout C) throws(PacketError) {
        try coder.field("Status", &status)
        try coder.field("Advertising_Handle", &set)
        try coder.field("Connection_Handle", &handle)
        try coder.field("Num_Completed_Extended_Advertising_Events", &completedEvents)
    }
}

/// A set has received a scan request (Core Vol 4 Part E 7.7.65.19).
package struct LEScanRequestReceived: HCIEvent {
    package static let entry = EventEntry(le: 0x13, "LE Scan Request Received")

    package var set: UInt8 = 0
    /// The scanner's address, or its identity address if the controller resolved it.
    package var scannerAddress = BluetoothAddress.none

    package init() {}

    package init(set: UInt8, scannerAddress: BluetoothAddress) {
        (self.set, self.scannerAddress) = (set, scannerAddress)
    }

    package mutating func code<C: FieldCoder>(_ coder: inout C) throws(PacketError) {
        try coder.field("Advertising_Handle", &set)
        try coder.typedAddress("Scanner_Address_Type", "Scanner_Address", &scannerAddress)
    }
}
