import BluetoothTypes

/// LE Extended Create Connection [v2] (Core Vol 4 Part E 7.8.66): connects to a peer on one or more PHYs, or to a peer
/// that responded to a subevent of periodic advertising. LE Enhanced Connection Complete [v2] follows.
package struct LEExtendedCreateConnectionV2: HCICommand {
    package static let entry = CommandEntry(.le, 0x85, "LE Extended Create Connection [v2]", bit: (47, 0), .status)

    /// The advertising handle of the train to which the peer is synchronized; 0xFF if no train is used.
    package var set: UInt8 = 0
    /// The subevent in which the connection request is sent; 0xFF if no train is used.
    package var periodicSubevent: UInt8 = 0
    /// The fields of version 1.
    package var v1 = LEExtendedCreateConnection()

    package init() {}

    package mutating func code<C: FieldCoder>(_ coder: inout C) throws(PacketError) {
        try coder.field("Advertising_Handle", &set)
        try coder.field("Subevent", &periodicSubevent)
        try v1.code(&coder)
    }
}
