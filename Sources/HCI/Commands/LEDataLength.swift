import BluetoothTypes

/// LE Set Data Length (Core Vol 4 Part E 7.8.33): suggests how long the packets of a connection may be.
package struct LESetDataLength: HCICommand {
    /// A status and the connection.
    package typealias Response = StatusAndHandle

    /// The command's number.
    package static var opcode: Opcode { Opcode(group: 0x08, command: 0x0022) }
    /// The command's name.
    package static var name: String { "LE Set Data Length" }
    /// Its place among the supported commands.
    package static var supportBit: SupportedCommands.Bit? { .init(octet: 33, bit: 6) }

    /// The connection.
    package var handle = ConnectionHandle(rawValue: 0)
    /// The longest payload to send, 0x001B to 0x00FB octets.
    package var txOctets: UInt16 = 0
    /// The longest time that a packet may take, 0x0148 to 0x4290 µs.
    package var txTime: UInt16 = 0

    /// A command with every parameter zero.
    package init() {}

    /// A command with these parameters.
    package init(handle: ConnectionHandle, txOctets: UInt16, txTime: UInt16) {
        self.handle = handle
        self.txOctets = txOctets
        self.txTime = txTime
    }

    /// Names the parameters.
    package mutating func code<C: FieldCoder>(_ coder: inout C) throws(PacketError) {
        try coder.field("Connection_Handle", &handle)
        try coder.field("TX_Octets", &txOctets)
        try coder.field("TX_Time", &txTime)
    }
}

/// LE Read Suggested Default Data Length (Core Vol 4 Part E 7.8.34): reads the packet length for new connections.
package struct LEReadSuggestedDefaultDataLength: HCICommand {
    /// The return parameters.
    package struct Response: HCIResponse {
        /// Whether and why the command failed.
        package var status = HCIStatus.success
        /// The longest payload to send, 0x001B to 0x00FB octets.
        package var txOctets: UInt16 = 0
        /// The longest time that a packet may take, 0x0148 to 0x4290 µs.
        package var txTime: UInt16 = 0

        /// Success, all else zero.
        package init() {}

        /// These return parameters.
        package init(status: HCIStatus = HCIStatus.success, txOctets: UInt16, txTime: UInt16) {
            self.status = status
            self.txOctets = txOctets
            self.txTime = txTime
        }

        /// Names the fields.
        package mutating func code<C: FieldCoder>(_ coder: inout C) throws(PacketError) {
            try coder.field("Status", &status)
            try coder.field("Suggested_Max_TX_Octets", &txOctets)
            try coder.field("Suggested_Max_TX_Time", &txTime)
        }
    }

    /// The command's number.
    package static var opcode: Opcode { Opcode(group: 0x08, command: 0x0023) }
    /// The command's name.
    package static var name: String { "LE Read Suggested Default Data Length" }
    /// Its place among the supported commands.
    package static var supportBit: SupportedCommands.Bit? { .init(octet: 33, bit: 7) }

    /// The command; it has no parameters.
    package init() {}

    /// Nothing to name.
    package mutating func code<C: FieldCoder>(_ coder: inout C) throws(PacketError) {}
}

/// LE Write Suggested Default Data Length (Core Vol 4 Part E 7.8.35): sets the packet length for new connections.
package struct LEWriteSuggestedDefaultDataLength: HCICommand {
    /// The command's number.
    package static var opcode: Opcode { Opcode(group: 0x08, command: 0x0024) }
    /// The command's name.
    package static var name: String { "LE Write Suggested Default Data Length" }
    /// Its place among the supported commands.
    package static var supportBit: SupportedCommands.Bit? { .init(octet: 34, bit: 0) }

    /// The longest payload to send, 0x001B to 0x00FB octets.
    package var txOctets: UInt16 = 0
    /// The longest time that a packet may take, 0x0148 to 0x4290 µs.
    package var txTime: UInt16 = 0

    /// A command with every parameter zero.
    package init() {}

    /// A command with these parameters.
    package init(txOctets: UInt16, txTime: UInt16) {
        self.txOctets = txOctets
        self.txTime = txTime
    }

    /// Names the parameters.
    package mutating func code<C: FieldCoder>(_ coder: inout C) throws(PacketError) {
        try coder.field("Suggested_Max_TX_Octets", &txOctets)
        try coder.field("Suggested_Max_TX_Time", &txTime)
    }
}

/// LE Read Maximum Data Length (Core Vol 4 Part E 7.8.46): reads the longest packets that the controller can do.
package struct LEReadMaximumDataLength: HCICommand {
    /// The return parameters.
    package struct Response: HCIResponse {
        /// Whether and why the command failed.
        package var status = HCIStatus.success
        /// The longest payload to send, 0x001B to 0x00FB octets.
        package var txOctets: UInt16 = 0
        /// The longest time for sending a packet, 0x0148 to 0x4290 µs.
        package var txTime: UInt16 = 0
        /// The longest payload to receive, 0x001B to 0x00FB octets.
        package var rxOctets: UInt16 = 0
        /// The longest time for receiving a packet, 0x0148 to 0x4290 µs.
        package var rxTime: UInt16 = 0

        /// Success, all else zero.
        package init() {}

        /// These return parameters.
        package init(
            status: HCIStatus = HCIStatus.success,
            txOctets: UInt16,
            txTime: UInt16,
            rxOctets: UInt16,
            rxTime: UInt16
        ) {
            self.status = status
            self.txOctets = txOctets
            self.txTime = txTime
            self.rxOctets = rxOctets
            self.rxTime = rxTime
        }

        /// Names the fields.
        package mutating func code<C: FieldCoder>(_ coder: inout C) throws(PacketError) {
            try coder.field("Status", &status)
            try coder.field("Supported_Max_TX_Octets", &txOctets)
            try coder.field("Supported_Max_TX_Time", &txTime)
            try coder.field("Supported_Max_RX_Octets", &rxOctets)
            try coder.field("Supported_Max_RX_Time", &rxTime)
        }
    }

    /// The command's number.
    package static var opcode: Opcode { Opcode(group: 0x08, command: 0x002F) }
    /// The command's name.
    package static var name: String { "LE Read Maximum Data Length" }
    /// Its place among the supported commands.
    package static var supportBit: SupportedCommands.Bit? { .init(octet: 35, bit: 3) }

    /// The command; it has no parameters.
    package init() {}

    /// Nothing to name.
    package mutating func code<C: FieldCoder>(_ coder: inout C) throws(PacketError) {}
}
