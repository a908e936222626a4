import BluetoothTypes

/// LE Set Extended Advertising Parameters [v2] (Core Vol 4 Part E 7.8.53): makes a set, or tells how it
/// advertises, with the coding of the Coded PHY.
package struct LESetExtendedAdvertisingParametersV2: HCICommand {
    /// The power that the controller took.
    package typealias Response = LESetExtendedAdvertisingParameters.Response

    package static var opcode: Opcode { Opcode(group: 0x08, command: 0x007F) }
    package static var name: String { "LE Set Extended Advertising Parameters [v2]" }
    package static var supportBit: SupportedCommands.Bit? { .init(octet: 46, bit: 2) }

    /// What version 1 says too.
    package var v1 = LESetExtendedAdvertisingParameters()
    /// The coding of the primary channels, when their PHY is Coded.
    package var primaryPHYOptions = LEAdvertisingPHYOptions(rawValue: 0)
    /// The coding of the secondary channels, when their PHY is Coded.
    package var secondaryPHYOptions = LEAdvertisingPHYOptions(rawValue: 0)

    package init() {}

    package mutating func code<C: FieldCoder>(_ coder: inout C) throws(PacketError) {
        try v1.code(&coder)
        try coder.field("Primary_Advertising_PHY_Options", &primaryPHYOptions)
        try coder.field("Secondary_Advertising_PHY_Options", &secondaryPHYOptions)
    }
}
