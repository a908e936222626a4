import BluetoothTypes

/// LE Encrypt (Core Vol 4 Part E 7.8.22): encrypts a block with AES-128. All octets come least significant first,
/// which is the reverse of FIPS 197.
public struct LEEncrypt: HCICommand {
    /// The return parameters.
    public struct Response: HCIResponse {
        /// Whether and why the command failed.
        public var status = HCIStatus.success
        /// The encrypted block, 16 octets.
        public var ciphertext: PacketBuffer = []

        /// Success, all else zero.
        public init() {}

        /// These return parameters.
        public init(status: HCIStatus = HCIStatus.success, ciphertext: PacketBuffer) {
            self.status = status
            self.ciphertext = ciphertext
        }

        /// Names the fields. The block is a key itself where the host derives one.
        public mutating func code<C: FieldCoder>(_ coder: inout C) throws(PacketError) {
            try coder.field("Status", &status)
            try coder.secret("Encrypted_Data", &ciphertext, count: 16)
        }
    }

    /// The command's number.
    public static var opcode: Opcode { Opcode(group: 0x08, command: 0x0017) }
    /// The command's name.
    public static var name: String { "LE Encrypt" }
    /// Its place among the supported commands.
    public static var supportBit: SupportedCommands.Bit? { .init(octet: 27, bit: 6) }

    /// The key, 16 octets.
    public var key: PacketBuffer = []
    /// The block, 16 octets.
    public var plaintext: PacketBuffer = []

    /// A command with every parameter zero.
    public init() {}

    /// A command with these parameters.
    public init(key: PacketBuffer, plaintext: PacketBuffer) {
        self.key = key
        self.plaintext = plaintext
    }

    /// Names the parameters.
    public mutating func code<C: FieldCoder>(_ coder: inout C) throws(PacketError) {
        try coder.secret("Key", &key, count: 16)
        try coder.bytes("Plaintext_Data", &plaintext, count: 16)
    }
}

/// LE Rand (Core Vol 4 Part E 7.8.23): reads a random number.
public struct LERand: HCICommand {
    /// The return parameters.
    public struct Response: HCIResponse {
        /// Whether and why the command failed.
        public var status = HCIStatus.success
        /// 64 random bits.
        public var number: UInt64 = 0

        /// Success, all else zero.
        public init() {}

        /// These return parameters.
        public init(status: HCIStatus = HCIStatus.success, number: UInt64) {
            self.status = status
            self.number = number
        }

        /// Names the fields. Hosts make keys of the number.
        public mutating func code<C: FieldCoder>(_ coder: inout C) throws(PacketError) {
            try coder.field("Status", &status)
            try coder.secret("Random_Number", &number)
        }
    }

    /// The command's number.
    public static var opcode: Opcode { Opcode(group: 0x08, command: 0x0018) }
    /// The command's name.
    public static var name: String { "LE Rand" }
    /// Its place among the supported commands.
    public static var supportBit: SupportedCommands.Bit? { .init(octet: 27, bit: 7) }

    /// The command; it has no parameters.
    public init() {}

    /// Nothing to name.
    public mutating func code<C: FieldCoder>(_ coder: inout C) throws(PacketError) {}
}

/// LE Enable Encryption (Core Vol 4 Part E 7.8.24): encrypts a link, or changes its key. For the central. Encryption
/// Change or Encryption Key Refresh Complete follows.
public struct LEEnableEncryption: HCICommand {
    /// The command's number.
    public static var opcode: Opcode { Opcode(group: 0x08, command: 0x0019) }
    /// The command's name.
    public static var name: String { "LE Enable Encryption" }
    /// Command Status answers.
    public static var isAnsweredByStatus: Bool { true }
    /// Its place among the supported commands.
    public static var supportBit: SupportedCommands.Bit? { .init(octet: 28, bit: 0) }

    /// The connection.
    public var handle = ConnectionHandle(rawValue: 0)
    /// What the peripheral finds the key by; 0 with LE Secure Connections.
    public var random: UInt64 = 0
    /// What the peripheral finds the key by; 0 with LE Secure Connections.
    public var encryptedDiversifier: UInt16 = 0
    /// The key, 16 octets, least significant first.
    public var longTermKey: PacketBuffer = []

    /// A command with every parameter zero.
    public init() {}

    /// A command with these parameters.
    public init(handle: ConnectionHandle, random: UInt64, encryptedDiversifier: UInt16, longTermKey: PacketBuffer) {
        self.handle = handle
        self.random = random
        self.encryptedDiversifier = encryptedDiversifier
        self.longTermKey = longTermKey
    }

    /// Names the parameters.
    public mutating func code<C: FieldCoder>(_ coder: inout C) throws(PacketError) {
        try coder.field("Connection_Handle", &handle)
        try coder.field("Random_Number", &random)
        try coder.field("Encrypted_Diversifier", &encryptedDiversifier)
        try coder.secret("Long_Term_Key", &longTermKey, count: 16)
    }
}

/// LE Long Term Key Request Reply (Core Vol 4 Part E 7.8.25): gives the key that the controller of a peripheral asks
/// for.
public struct LELongTermKeyRequestReply: HCICommand {
    /// A status and the connection.
    public typealias Response = StatusAndHandle

    /// The command's number.
    public static var opcode: Opcode { Opcode(group: 0x08, command: 0x001A) }
    /// The command's name.
    public static var name: String { "LE Long Term Key Request Reply" }
    /// Its place among the supported commands.
    public static var supportBit: SupportedCommands.Bit? { .init(octet: 28, bit: 1) }

    /// The connection.
    public var handle = ConnectionHandle(rawValue: 0)
    /// The key, 16 octets, least significant first.
    public var longTermKey: PacketBuffer = []

    /// A command with every parameter zero.
    public init() {}

    /// A command with these parameters.
    public init(handle: ConnectionHandle, longTermKey: PacketBuffer) {
        self.handle = handle
        self.longTermKey = longTermKey
    }

    /// Names the parameters.
    public mutating func code<C: FieldCoder>(_ coder: inout C) throws(PacketError) {
        try coder.field("Connection_Handle", &handle)
        try coder.secret("Long_Term_Key", &longTermKey, count: 16)
    }
}

/// LE Long Term Key Request Negative Reply (Core Vol 4 Part E 7.8.26): says that there is no such key.
public struct LELongTermKeyRequestNegativeReply: HCICommand {
    /// A status and the connection.
    public typealias Response = StatusAndHandle

    /// The command's number.
    public static var opcode: Opcode { Opcode(group: 0x08, command: 0x001B) }
    /// The command's name.
    public static var name: String { "LE Long Term Key Request Negative Reply" }
    /// Its place among the supported commands.
    public static var supportBit: SupportedCommands.Bit? { .init(octet: 28, bit: 2) }

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
