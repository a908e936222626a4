import BluetoothTypes

/// LE Read RF Path Compensation (Core Vol 4 Part E 7.8.75): reads the gain or loss between the radio and the antenna.
package struct LEReadRFPathCompensation: ParameterlessCommand {
    package struct Response: HCIResponse {
        package var status = HCIStatus.success
        /// The gain of the transmit path, in units of 0.1 dB.
        package var transmit: Int16 = 0
        /// The gain of the receive path, in units of 0.1 dB.
        package var receive: Int16 = 0

        package init() {}
        package init(transmit: Int16, receive: Int16) { (self.transmit, self.receive) = (transmit, receive) }

        package mutating func code<C: FieldCoder>(_ coder: inout C) throws(PacketError) {
            try coder.field("Status", &status)
            try coder.field("RF_TX_Path_Compensation_Value", &transmit)
            try coder.field("RF_RX_Path_Compensation_Value", &receive)
        }
    }

    package static let entry = CommandEntry(.le, 0x4C, "LE Read RF Path Compensation", bit: (39, 0))

    package init() {}
}

/// LE Write RF Path Compensation (Core Vol 4 Part E 7.8.76): sets the gain or loss between the radio and the antenna.
package struct LEWriteRFPathCompensation: HCICommand {
    package static let entry = CommandEntry(.le, 0x4D, "LE Write RF Path Compensation", bit: (39, 1))

    /// The gain of the transmit path, in units of 0.1 dB, -1280 to 1280.
    package var transmit: Int16 = 0
    /// The gain of the receive path, in units of 0.1 dB, -1280 to 1280.
    package var receive: Int16 = 0

    package init() {}
    package init(transmit: Int16, receive: Int16) { (self.transmit, self.receive) = (transmit, receive) }

    package mutating func code<C: FieldCoder>(_ coder: inout C) throws(PacketError) {
        try coder.field("RF_TX_Path_Compensation_Value", &transmit)
        try coder.field("RF_RX_Path_Compensation_Value", &receive)
    }
}
