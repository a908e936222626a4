import BluetoothTypes

/// LE Set Data Length (Core Vol 4 Part E 7.8.33): suggests how long the packets of a connection may be.
public struct LESetDataLength: HCICommand {
    /// A status and the connection.
    public typealias Response = StatusAndHandle

    /// The command's number.
    public static var opcode: Opcode { Opcode(group: 0x08, command: 0x0022) }
    /// The command's name.
    public static var name: String { "LE Set Data Length" }
    /// Its place among the supported commands.
    public static var supportBit: SupportedCommands.Bit? { .init(octet: 33, bit: 6) }

    /// The connection.
    public var handle = ConnectionHandle(rawValue: 0)
    /// The longest payload to send, 0x001B to 0x00FB octets.
    public var txOctets: UInt16 = 0
    /// The longest time that a packet may take, 0x0148 to 0x4290 µs.
    public var txTime: UInt16 = 0

    /// A command with every parameter zero.
    public init() {}

    /// A command with these parameters.
    public init(handle: ConnectionHandle, txOctets: UInt16, txTime: UInt16) {
        self.handle = handle
        self.txOctets = txOctets
        self.txTime = txTime
    }

    /// Names the parameters.
    public mutating func code<C: FieldCoder>(_ coder: inout C) throws(PacketError) {
        try coder.field("Connection_Handle", &handle)
        try coder.field("TX_Octets", &txOctets)
        try coder.field("TX_Time", &txTime)
    }
}

/// LE Read Suggested Default Data Length (Core Vol 4 Part E 7.8.34): reads the packet length for new connections.
public struct LEReadSuggestedDefaultDataLength: HCICommand {
    /// The return parameters.
    public struct Response: HCIResponse {
        /// Whether and why the command failed.
        public var status = HCIStatus.success
        /// The longest payload to send, 0x001B to 0x00FB octets.
        public var txOctets: UInt16 = 0
        /// The longest time that a packet may take, 0x0148 to 0x4290 µs.
        public var txTime: UInt16 = 0

        /// Success, all else zero.
        public init() {}

        /// These return parameters.
        public init(status: HCIStatus = HCIStatus.success, txOctets: UInt16, txTime: UInt16) {
            self.status = status
            self.txOctets = txOctets
            self.txTime = txTime
        }

        /// Names the fields.
        public mutating func code<C: FieldCoder>(_ coder: inout C) throws(PacketError) {
            try coder.field("Status", &status)
            try coder.field("Suggested_Max_TX_Octets", &txOctets)
            try coder.field("Suggested_Max_TX_Time", &txTime)
        }
    }

    /// The command's number.
    public static var opcode: Opcode { Opcode(group: 0x08, command: 0x0023) }
    /// The command's name.
    public static var name: String { "LE Read Suggested Default Data Length" }
    /// Its place among the supported commands.
    public static var supportBit: SupportedCommands.Bit? { .init(octet: 33, bit: 7) }

    /// The command; it has no parameters.
    public init() {}

    /// Nothing to name.
    public mutating func code<C: FieldCoder>(_ coder: inout C) throws(PacketError) {}
}

/// LE Write Suggested Default Data Length (Core Vol 4 Part E 7.8.35): sets the packet length for new connections.
public struct LEWriteSuggestedDefaultDataLength: HCICommand {
    /// The command's number.
    public static var opcode: Opcode { Opcode(group: 0x08, command: 0x0024) }
    /// The command's name.
    public static var name: String { "LE Write Suggested Default Data Length" }
    /// Its place among the supported commands.
    public static var supportBit: SupportedCommands.Bit? { .init(octet: 34, bit: 0) }

    /// The longest payload to send, 0x001B to 0x00FB octets.
    public var txOctets: UInt16 = 0
    /// The longest time that a packet may take, 0x0148 to 0x4290 µs.
    public var txTime: UInt16 = 0

    /// A command with every parameter zero.
    public init() {}

    /// A command with these parameters.
    public init(txOctets: UInt16, txTime: UInt16) {
        self.txOctets = txOctets
        self.txTime = txTime
    }

    /// Names the parameters.
    public mutating func code<C: FieldCoder>(_ coder: inout C) throws(PacketError) {
        try coder.field("Suggested_Max_TX_Octets", &txOctets)
        try coder.field("Suggested_Max_TX_Time", &txTime)
    }
}

/// LE Read Maximum Data Length (Core Vol 4 Part E 7.8.46): reads the longest packets that the controller can do.
public struct LEReadMaximumDataLength: HCICommand {
    /// The return parameters.
    public struct Response: HCIResponse {
        /// Whether and why the command failed.
        public var status = HCIStatus.success
        /// The longest payload to send, 0x001B to 0x00FB octets.
        public var txOctets: UInt16 = 0
        /// The longest time for sending a packet, 0x0148 to 0x4290 µs.
        public var txTime: UInt16 = 0
        /// The longest payload to receive, 0x001B to 0x00FB octets.
        public var rxOctets: UInt16 = 0
        /// The longest time for receiving a packet, 0x0148 to 0x4290 µs.
        public var rxTime: UInt16 = 0

        /// Success, all else zero.
        public init() {}

        /// These return parameters.
        public init(
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
        public mutating func code<C: FieldCoder>(_ coder: inout C) throws(PacketError) {
            try coder.field("Status", &status)
            try coder.field("Supported_Max_TX_Octets", &txOctets)
            try coder.field("Supported_Max_TX_Time", &txTime)
            try coder.field("Supported_Max_RX_Octets", &rxOctets)
            try coder.field("Supported_Max_RX_Time", &rxTime)
        }
    }

    /// The command's number.
    public static var opcode: Opcode { Opcode(group: 0x08, command: 0x002F) }
    /// The command's name.
    public static var name: String { "LE Read Maximum Data Length" }
    /// Its place among the supported commands.
    public static var supportBit: SupportedCommands.Bit? { .init(octet: 35, bit: 3) }

    /// The command; it has no parameters.
    public init() {}

    /// Nothing to name.
    public mutating func code<C: FieldCoder>(_ coder: inout C) throws(PacketError) {}
}
