import BluetoothTypes

/// LE Set Extended Advertising Parameters [v2] (Core Vol 4 Part E 7.8.53): creates an advertising set or changes its
/// parameters, including the coding on the Coded PHY.
package struct LESetExtendedAdvertisingParametersV2: HCICommand {
    /// The return parameters of version 1: the status and the transmit power that the controller selected.
    package typealias Response = LESetExtendedAdvertisingParameters.Response

    package static let entry = CommandEntry(.le, 0x7F, "LE Set Extended Advertising Parameters [v2]", bit: (46, 2))

    /// The fields of version 1.
    package var v1 = LESetExtendedAdvertisingParameters()
    /// The coding on the primary channels if their PHY is Coded.
    package var primaryPHYOptions = LEAdvertisingPHYOptions(rawValue: 0)
    /// The coding on the secondary channels if their PHY is Coded.
    package var secondaryPHYOptions = LEAdvertisingPHYOptions(rawValue: 0)

    package init() {}

    package mutating func code<C: FieldCoder>(_ coder: inout C) throws(PacketError) {
        try v1.code(&coder)
        try coder.field("Primary_Advertising_PHY_Options", &primaryPHYOptions)
        try coder.field("Secondary_Advertising_PHY_Options", &secondaryPHYOptions)
    }
}
