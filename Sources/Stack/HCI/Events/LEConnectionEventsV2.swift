import BluetoothTypes

/// LE Enhanced Connection Complete [v2] (Core Vol 4 Part E 7.7.65.10): a connection has been established, or an attempt
/// has failed. It includes the resolvable private addresses and the periodic advertising train in use.
package struct LEEnhancedConnectionCompleteV2: LEEvent {
    package static var leSubevent: LESubevent { LESubevent(rawValue: 0x29) }
    package static var name: String { "LE Enhanced Connection Complete [v2]" }

    /// The fields of version 1.
    package var v1 = LEEnhancedConnectionComplete()
    /// For a central, the advertising handle of the train used; 0xFF for none.
    package var set: UInt8 = 0
    /// For a peripheral, the sync handle of the train used; 0xFFFF for none.
    package var syncHandle: UInt16 = 0

    package init() {}

    package mutating func code<C: FieldCoder>(_ coder: inout C) throws(PacketError) {
        try v1.code(&coder)
        try coder.field("Advertising_Handle", &set)
        try coder.field("Sync_Handle", &syncHandle)
    }
}
