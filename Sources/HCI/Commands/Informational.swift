import BluetoothTypes

/// Read Local Version Information (Core Vol 4 Part E 7.4.1): reads which versions the controller is of.
public struct ReadLocalVersionInformation: HCICommand {
    /// The return parameters.
    public struct Response: HCIResponse {
        /// Whether and why the command failed.
        public var status = HCIStatus.success
        /// The version of HCI.
        public var hciVersion = SpecificationVersion(rawValue: 0)
        /// The maker's revision of HCI.
        public var hciRevision: UInt16 = 0
        /// The version of the link layer.
        public var linkLayerVersion = SpecificationVersion(rawValue: 0)
        /// The maker, by the number that the Bluetooth SIG gave it.
        public var companyIdentifier: UInt16 = 0
        /// The maker's revision of the link layer.
        public var linkLayerSubversion: UInt16 = 0

        /// Success, all else zero.
        public init() {}

        /// These return parameters.
        public init(
            status: HCIStatus = HCIStatus.success,
            hciVersion: SpecificationVersion,
            hciRevision: UInt16,
            linkLayerVersion: SpecificationVersion,
            companyIdentifier: UInt16,
            linkLayerSubversion: UInt16
        ) {
            self.status = status
            self.hciVersion = hciVersion
            self.hciRevision = hciRevision
            self.linkLayerVersion = linkLayerVersion
            self.companyIdentifier = companyIdentifier
            self.linkLayerSubversion = linkLayerSubversion
        }

        /// Names the fields.
        public mutating func code<C: FieldCoder>(_ coder: inout C) throws(PacketError) {
            try coder.field("Status", &status)
            try coder.field("HCI_Version", &hciVersion)
            try coder.field("HCI_Subversion", &hciRevision)
            try coder.field("LMP_Version", &linkLayerVersion)
            try coder.field("Company_Identifier", &companyIdentifier)
            try coder.field("LMP_Subversion", &linkLayerSubversion)
        }
    }

    /// The command's number.
    public static var opcode: Opcode { Opcode(group: 0x04, command: 0x0001) }
    /// The command's name.
    public static var name: String { "Read Local Version Information" }
    /// Its place among the supported commands.
    public static var supportBit: SupportedCommands.Bit? { .init(octet: 14, bit: 3) }

    /// The command; it has no parameters.
    public init() {}

    /// Nothing to name.
    public mutating func code<C: FieldCoder>(_ coder: inout C) throws(PacketError) {}
}

/// Read Local Supported Commands (Core Vol 4 Part E 7.4.2): reads which commands the controller knows.
public struct ReadLocalSupportedCommands: HCICommand {
    /// The return parameters.
    public struct Response: HCIResponse {
        /// Whether and why the command failed.
        public var status = HCIStatus.success
        /// The commands.
        public var commands = SupportedCommands()

        /// Success, all else zero.
        public init() {}

        /// These return parameters.
        public init(status: HCIStatus = HCIStatus.success, commands: SupportedCommands) {
            self.status = status
            self.commands = commands
        }

        /// Names the fields.
        public mutating func code<C: FieldCoder>(_ coder: inout C) throws(PacketError) {
            try coder.field("Status", &status)
            try coder.field("Supported_Commands", &commands)
        }
    }

    /// The command's number.
    public static var opcode: Opcode { Opcode(group: 0x04, command: 0x0002) }
    /// The command's name.
    public static var name: String { "Read Local Supported Commands" }
    /// None: a host asks this to learn of the others.
    public static var supportBit: SupportedCommands.Bit? { nil }

    /// The command; it has no parameters.
    public init() {}

    /// Nothing to name.
    public mutating func code<C: FieldCoder>(_ coder: inout C) throws(PacketError) {}
}

/// Read Local Supported Features (Core Vol 4 Part E 7.4.3): reads what the controller can do besides LE.
public struct ReadLocalSupportedFeatures: HCICommand {
    /// The return parameters.
    public struct Response: HCIResponse {
        /// Whether and why the command failed.
        public var status = HCIStatus.success
        /// The first page of features.
        public var features: LMPFeatures = []

        /// Success, all else zero.
        public init() {}

        /// These return parameters.
        public init(status: HCIStatus = HCIStatus.success, features: LMPFeatures) {
            self.status = status
            self.features = features
        }

        /// Names the fields.
        public mutating func code<C: FieldCoder>(_ coder: inout C) throws(PacketError) {
            try coder.field("Status", &status)
            try coder.field("LMP_Features", &features)
        }
    }

    /// The command's number.
    public static var opcode: Opcode { Opcode(group: 0x04, command: 0x0003) }
    /// The command's name.
    public static var name: String { "Read Local Supported Features" }
    /// Its place among the supported commands.
    public static var supportBit: SupportedCommands.Bit? { .init(octet: 14, bit: 5) }

    /// The command; it has no parameters.
    public init() {}

    /// Nothing to name.
    public mutating func code<C: FieldCoder>(_ coder: inout C) throws(PacketError) {}
}

/// Read Buffer Size (Core Vol 4 Part E 7.4.5): reads the buffers that LE shares with BR/EDR when it has none of its
/// own.
public struct ReadBufferSize: HCICommand {
    /// The return parameters.
    public struct Response: HCIResponse {
        /// Whether and why the command failed.
        public var status = HCIStatus.success
        /// The longest ACL payload that a buffer takes, in octets.
        public var aclDataPacketLength: UInt16 = 0
        /// The longest synchronous payload, in octets.
        public var synchronousDataPacketLength: UInt8 = 0
        /// How many ACL packets the controller holds.
        public var totalACLDataPackets: UInt16 = 0
        /// How many synchronous packets the controller holds.
        public var totalSynchronousDataPackets: UInt16 = 0

        /// Success, all else zero.
        public init() {}

        /// These return parameters.
        public init(
            status: HCIStatus = HCIStatus.success,
            aclDataPacketLength: UInt16,
            synchronousDataPacketLength: UInt8,
            totalACLDataPackets: UInt16,
            totalSynchronousDataPackets: UInt16
        ) {
            self.status = status
            self.aclDataPacketLength = aclDataPacketLength
            self.synchronousDataPacketLength = synchronousDataPacketLength
            self.totalACLDataPackets = totalACLDataPackets
            self.totalSynchronousDataPackets = totalSynchronousDataPackets
        }

        /// Names the fields.
        public mutating func code<C: FieldCoder>(_ coder: inout C) throws(PacketError) {
            try coder.field("Status", &status)
            try coder.field("ACL_Data_Packet_Length", &aclDataPacketLength)
            try coder.field("Synchronous_Data_Packet_Length", &synchronousDataPacketLength)
            try coder.field("Total_Num_ACL_Data_Packets", &totalACLDataPackets)
            try coder.field("Total_Num_Synchronous_Data_Packets", &totalSynchronousDataPackets)
        }
    }

    /// The command's number.
    public static var opcode: Opcode { Opcode(group: 0x04, command: 0x0005) }
    /// The command's name.
    public static var name: String { "Read Buffer Size" }
    /// Its place among the supported commands.
    public static var supportBit: SupportedCommands.Bit? { .init(octet: 14, bit: 7) }

    /// The command; it has no parameters.
    public init() {}

    /// Nothing to name.
    public mutating func code<C: FieldCoder>(_ coder: inout C) throws(PacketError) {}
}

/// Read BD_ADDR (Core Vol 4 Part E 7.4.6): reads the public address.
public struct ReadBDADDR: HCICommand {
    /// The return parameters.
    public struct Response: HCIResponse {
        /// Whether and why the command failed.
        public var status = HCIStatus.success
        /// The public address; zero when there is none.
        public var address = BluetoothAddress.none

        /// Success, all else zero.
        public init() {}

        /// These return parameters.
        public init(status: HCIStatus = HCIStatus.success, address: BluetoothAddress) {
            self.status = status
            self.address = address
        }

        /// Names the fields.
        public mutating func code<C: FieldCoder>(_ coder: inout C) throws(PacketError) {
            try coder.field("Status", &status)
            try coder.address("BD_ADDR", &address)
        }
    }

    /// The command's number.
    public static var opcode: Opcode { Opcode(group: 0x04, command: 0x0009) }
    /// The command's name.
    public static var name: String { "Read BD_ADDR" }
    /// Its place among the supported commands.
    public static var supportBit: SupportedCommands.Bit? { .init(octet: 15, bit: 1) }

    /// The command; it has no parameters.
    public init() {}

    /// Nothing to name.
    public mutating func code<C: FieldCoder>(_ coder: inout C) throws(PacketError) {}
}
