import BluetoothTypes

/// Read RSSI (Core Vol 4 Part E 7.5.4): reads how strong the peer was heard last.
package struct ReadRSSI: HCICommand {
    /// The return parameters.
    package struct Response: HCIResponse {
        /// Whether and why the command failed.
        package var status = HCIStatus.success
        /// The connection.
        package var handle = ConnectionHandle(rawValue: 0)
        /// The strength in dBm, -127 to 20; 127 when it is not known.
        package var rssi: Int8 = 0

        /// Success, all else zero.
        package init() {}

        /// These return parameters.
        package init(status: HCIStatus = HCIStatus.success, handle: ConnectionHandle, rssi: Int8) {
            self.status = status
            self.handle = handle
            self.rssi = rssi
        }

        /// Names the fields.
        package mutating func code<C: FieldCoder>(_ coder: inout C) throws(PacketError) {
            try coder.field("Status", &status)
            try coder.field("Handle", &handle)
            try coder.field("RSSI", &rssi)
        }
    }

    /// The command's number.
    package static var opcode: Opcode { Opcode(group: 0x05, command: 0x0005) }
    /// The command's name.
    package static var name: String { "Read RSSI" }
    /// Its place among the supported commands.
    package static var supportBit: SupportedCommands.Bit? { .init(octet: 15, bit: 5) }

    /// The connection.
    package var handle = ConnectionHandle(rawValue: 0)

    /// A command with every parameter zero.
    package init() {}

    /// A command with these parameters.
    package init(handle: ConnectionHandle) {
        self.handle = handle
    }

    /// Names the parameters.
    package mutating func code<C: FieldCoder>(_ coder: inout C) throws(PacketError) {
        try coder.field("Handle", &handle)
    }
}
