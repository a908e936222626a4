import BluetoothTypes

/// LE Subrate Change (Core Vol 4 Part E 7.7.65.35): the subrate parameters of a link have changed, or a request has
/// failed.
package struct LESubrateChange: LEEvent {
    package static var leSubevent: LESubevent { LESubevent(rawValue: 0x23) }
    package static var name: String { "LE Subrate Change" }

    package var status = HCIStatus.success
    package var handle = ConnectionHandle(rawValue: 0)
    /// The subrate factor: the link uses every `factor`-th connection event.
    package var factor: UInt16 = 0
    /// The peripheral latency, in subrated events.
    package var latency: UInt16 = 0
    /// The continuation number: how many events after one with data stay in use.
    package var continuation: UInt16 = 0
    /// The supervision timeout, in units of 10 ms.
    package var supervisionTimeout: UInt16 = 0

    package init() {}

    package mutating func code<C: FieldCoder>(_ coder: inout C) throws(PacketError) {
        try coder.field("Status", &status)
        try coder.field("Connection_Handle", &handle)
        try coder.field("Subrate_Factor", &factor)
        try coder.field("Peripheral_Latency", &latency)
        try coder.field("Continuation_Number", &continuation)
        try coder.field("Supervision_Timeout", &supervisionTimeout)
    }
}
