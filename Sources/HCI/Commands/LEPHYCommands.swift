import BluetoothTypes

/// LE Read PHY (Core Vol 4 Part E 7.8.47): reads the PHYs of a connection.
public struct LEReadPHY: HCICommand {
    /// The return parameters.
    public struct Response: HCIResponse {
        /// Whether and why the command failed.
        public var status = HCIStatus.success
        /// The connection.
        public var handle = ConnectionHandle(rawValue: 0)
        /// The PHY for sending.
        public var txPHY = LEPHY(rawValue: 0)
        /// The PHY for receiving.
        public var rxPHY = LEPHY(rawValue: 0)

        /// Success, all else zero.
        public init() {}

        /// These return parameters.
        public init(status: HCIStatus = HCIStatus.success, handle: ConnectionHandle, txPHY: LEPHY, rxPHY: LEPHY) {
            self.status = status
            self.handle = handle
            self.txPHY = txPHY
            self.rxPHY = rxPHY
        }

        /// Names the fields.
        public mutating func code<C: FieldCoder>(_ coder: inout C) throws(PacketError) {
            try coder.field("Status", &status)
            try coder.field("Connection_Handle", &handle)
            try coder.field("TX_PHY", &txPHY)
            try coder.field("RX_PHY", &rxPHY)
        }
    }

    /// The command's number.
    public static var opcode: Opcode { Opcode(group: 0x08, command: 0x0030) }
    /// The command's name.
    public static var name: String { "LE Read PHY" }
    /// Its place among the supported commands.
    public static var supportBit: SupportedCommands.Bit? { .init(octet: 35, bit: 4) }

    /// The connection.
    public var handle = ConnectionHandle(rawValue: 0)

    /// A command with every parameter zero.
    public init() {}

    /// A command with these parameters.
    public init(handle: ConnectionHandle) {
        self.handle = handle
    }

    /// Names the parameters.
    public mutating func code<C: FieldCoder>(_ coder: inout C) throws(PacketError) {
        try coder.field("Connection_Handle", &handle)
    }
}

/// LE Set Default PHY (Core Vol 4 Part E 7.8.48): sets the PHYs that new connections prefer.
public struct LESetDefaultPHY: HCICommand {
    /// The command's number.
    public static var opcode: Opcode { Opcode(group: 0x08, command: 0x0031) }
    /// The command's name.
    public static var name: String { "LE Set Default PHY" }
    /// Its place among the supported commands.
    public static var supportBit: SupportedCommands.Bit? { .init(octet: 35, bit: 5) }

    /// In which directions the host does not care.
    public var preference: LEPHYPreference = []
    /// The PHYs to send with.
    public var txPHYs: LEPHYs = []
    /// The PHYs to receive with.
    public var rxPHYs: LEPHYs = []

    /// A command with every parameter zero.
    public init() {}

    /// A command with these parameters.
    public init(preference: LEPHYPreference, txPHYs: LEPHYs, rxPHYs: LEPHYs) {
        self.preference = preference
        self.txPHYs = txPHYs
        self.rxPHYs = rxPHYs
    }

    /// Names the parameters.
    public mutating func code<C: FieldCoder>(_ coder: inout C) throws(PacketError) {
        try coder.field("All_PHYs", &preference)
        try coder.field("TX_PHYs", &txPHYs)
        try coder.field("RX_PHYs", &rxPHYs)
    }
}

/// LE Set PHY (Core Vol 4 Part E 7.8.49): sets the PHYs that a connection prefers. LE PHY Update Complete follows.
public struct LESetPHY: HCICommand {
    /// The command's number.
    public static var opcode: Opcode { Opcode(group: 0x08, command: 0x0032) }
    /// The command's name.
    public static var name: String { "LE Set PHY" }
    /// Command Status answers.
    public static var isAnsweredByStatus: Bool { true }
    /// Its place among the supported commands.
    public static var supportBit: SupportedCommands.Bit? { .init(octet: 35, bit: 6) }

    /// The connection.
    public var handle = ConnectionHandle(rawValue: 0)
    /// In which directions the host does not care.
    public var preference: LEPHYPreference = []
    /// The PHYs to send with.
    public var txPHYs: LEPHYs = []
    /// The PHYs to receive with.
    public var rxPHYs: LEPHYs = []
    /// The coding on the Coded PHY.
    public var codedOption = LECodedPHYOption(rawValue: 0)

    /// A command with every parameter zero.
    public init() {}

    /// A command with these parameters.
    public init(
        handle: ConnectionHandle,
        preference: LEPHYPreference,
        txPHYs: LEPHYs,
        rxPHYs: LEPHYs,
        codedOption: LECodedPHYOption
    ) {
        self.handle = handle
        self.preference = preference
        self.txPHYs = txPHYs
        self.rxPHYs = rxPHYs
        self.codedOption = codedOption
    }

    /// Names the parameters.
    public mutating func code<C: FieldCoder>(_ coder: inout C) throws(PacketError) {
        try coder.field("Connection_Handle", &handle)
        try coder.field("All_PHYs", &preference)
        try coder.field("TX_PHYs", &txPHYs)
        try coder.field("RX_PHYs", &rxPHYs)
        try coder.field("PHY_Options", &codedOption)
    }
}
