import BluetoothTypes

/// The number of completed packets of a connection.
package struct CompletedPackets: PacketFields, Hashable, Sendable {
    package var handle = ConnectionHandle(rawValue: 0)
    /// The number of packets completed since the last report.
    package var count: UInt16 = 0

    package init() {}
    package init(handle: ConnectionHandle, count: UInt16) { (self.handle, self.count) = (handle, count) }

    package mutating func code<C: FieldCoder>(_ coder: inout C) throws(PacketError) {
        try coder.field("Connection_Handle", &handle)
        try coder.field("Num_Completed_Packets", &count)
    }
}
