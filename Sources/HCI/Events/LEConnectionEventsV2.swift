import BluetoothTypes

/// LE Enhanced Connection Complete [v2] (Core Vol 4 Part E 7.7.65.10): a connection has been made, or could not be,
/// with the private addresses and the periodic advertising that were used.
package struct LEEnhancedConnectionCompleteV2: LEEvent {
    package static var leSubevent: LESubevent { LESubevent(rawValue: 0x29) }
    package static var name: String { "LE Enhanced Connection Complete [v2]" }

    /// What version 1 says too.
    package var v1 = LEEnhancedConnectionComplete()
    /// For a central, the set whose periodic advertising was used; 0xFF for none.
    package var set: UInt8 = 0
    /// For a peripheral, the periodic advertising that was used; 0xFFFF for none.
    package var syncHandle: UInt16 = 0

    package init() {}

    package mutating func code<C: FieldCoder>(_ coder: inout C) throws(PacketError) {
        try v1.code(&coder)
        try coder.field("Advertising_Handle", &set)
        try coder.field("Sync_Handle", &syncHandle)
    }
}
