import BluetoothTypes

/// Sets the subrate parameters that a central accepts from the peripherals of future connections (Core Vol 4 Part E
/// 7.8.123).
package struct LESetDefaultSubrate: HCICommand {
    package static let entry = CommandEntry(.le, 0x7D, "LE Set Default Subrate", bit: (46, 0))

    /// The minimum subrate factor, 1 to 500.
    package var subrateMin: UInt16 = 0
    /// The maximum subrate factor, 1 to 500.
    package var subrateMax: UInt16 = 0
    /// The maximum peripheral latency, in subrated events, 0 to 499.
    package var maxLatency: UInt16 = 0
    /// The continuation number: how many events after one with data stay in use, 0 to 499.
    package var continuation: UInt16 = 0
    /// The supervision timeout, in units of 10 ms, 0x000A to 0x0C80.
    package var supervisionTimeout: UInt16 = 0

    package init() {}

    package mutating func code<C: FieldCoder>(_ coder: inout C) throws(PacketError) {
        try coder.field("Subrate_Min", &subrateMin)
        try coder.field("Subrate_Max", &subrateMax)
        try coder.field("Max_Latency", &maxLatency)
        try coder.field("Continuation_Number", &continuation)
        try coder.field("Supervision_Timeout", &supervisionTimeout)
    }
}

/// As central, changes the subrate of a link; as peripheral, requests a change from the central (Core Vol 4 Part E
/// 7.8.124). LE Subrate Change follows.
package struct LESubrateRequest: HCICommand {
    package static let entry = CommandEntry(.le, 0x7E, "LE Subrate Request", bit: (46, 1), .status)

    package var handle = ConnectionHandle(rawValue: 0)
    package var parameters = LESetDefaultSubrate()

    package init() {}

    package mutating func code<C: FieldCoder>(_ coder: inout C) throws(PacketError) {
        try coder.field("Connection_Handle", &handle)
        try parameters.code(&coder)
    }
}
