import BluetoothTypes

/// LE Read RF Path Compensation (Core Vol 4 Part E 7.8.75): what lies between the radio and the antenna.
package struct LEReadRFPathCompensation: HCICommand {
    /// The return parameters.
    package struct Response: HCIResponse {
        /// Whether and why the command failed.
        package var status = HCIStatus.success
        /// What the transmit path adds, in tenths of a dB.
        package var transmit: Int16 = 0
        /// What the receive path adds, in tenths of a dB.
        package var receive: Int16 = 0

        /// Success, all else zero.
        package init() {}

        /// These return parameters.
        package init(status: HCIStatus = HCIStatus.success, transmit: Int16, receive: Int16) {
            self.status = status
            self.transmit = transmit
            self.receive = receive
        }

        /// Names the fields.
        package mutating func code<C: FieldCoder>(_ coder: inout C) throws(PacketError) {
            try coder.field("Status", &status)
            try coder.field("RF_TX_Path_Compensation_Value", &transmit)
            try coder.field("RF_RX_Path_Compensation_Value", &receive)
        }
    }

    /// The command's number.
    package static var opcode: Opcode { Opcode(group: 0x08, command: 0x004C) }
    /// The command's name.
    package static var name: String { "LE Read RF Path Compensation" }
    /// Its place among the supported commands.
    package static var supportBit: SupportedCommands.Bit? { .init(octet: 39, bit: 0) }

    /// The command; it has no parameters.
    package init() {}

    /// Nothing to name.
    package mutating func code<C: FieldCoder>(_ coder: inout C) throws(PacketError) {}
}

/// LE Write RF Path Compensation (Core Vol 4 Part E 7.8.76): tells what lies between the radio and the antenna.
package struct LEWriteRFPathCompensation: HCICommand {
    /// The command's number.
    package static var opcode: Opcode { Opcode(group: 0x08, command: 0x004D) }
    /// The command's name.
    package static var name: String { "LE Write RF Path Compensation" }
    /// Its place among the supported commands.
    package static var supportBit: SupportedCommands.Bit? { .init(octet: 39, bit: 1) }

    /// What the transmit path adds, in tenths of a dB, -1280 to 1280.
    package var transmit: Int16 = 0
    /// What the receive path adds, in tenths of a dB, -1280 to 1280.
    package var receive: Int16 = 0

    /// A command with every parameter zero.
    package init() {}

    /// A command with these parameters.
    package init(transmit: Int16, receive: Int16) {
        self.transmit = transmit
        self.receive = receive
    }

    /// Names the parameters.
    package mutating func code<C: FieldCoder>(_ coder: inout C) throws(PacketError) {
        try coder.field("RF_TX_Path_Compensation_Value", &transmit)
        try coder.field("RF_RX_Path_Compensation_Value", &receive)
    }
}
