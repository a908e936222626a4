import BluetoothTypes

/// LE Set Event Mask (Core Vol 4 Part E 7.8.1): tells which LE events the host wants.
package struct LESetEventMask: HCICommand {
    /// The command's number.
    package static var opcode: Opcode { Opcode(group: 0x08, command: 0x0001) }
    /// The command's name.
    package static var name: String { "LE Set Event Mask" }
    /// Its place among the supported commands.
    package static var supportBit: SupportedCommands.Bit? { .init(octet: 25, bit: 0) }

    /// The events that are wanted.
    package var mask: LEEventMask = []

    /// A command with every parameter zero.
    package init() {}

    /// A command with these parameters.
    package init(mask: LEEventMask) {
        self.mask = mask
    }

    /// Names the parameters.
    package mutating func code<C: FieldCoder>(_ coder: inout C) throws(PacketError) {
        try coder.field("LE_Event_Mask", &mask)
    }
}

/// LE Read Buffer Size (Core Vol 4 Part E 7.8.2): reads the buffers for LE data, version 1.
package struct LEReadBufferSize: HCICommand {
    /// The return parameters.
    package struct Response: HCIResponse {
        /// Whether and why the command failed.
        package var status = HCIStatus.success
        /// The longest ACL payload that a buffer takes, in octets, 27 at least; 0 when LE shares the buffers of BR/EDR.
        package var aclDataPacketLength: UInt16 = 0
        /// How many ACL packets the controller holds; 0 when LE shares the buffers of BR/EDR.
        package var totalACLDataPackets: UInt8 = 0

        /// Success, all else zero.
        package init() {}

        /// These return parameters.
        package init(status: HCIStatus = HCIStatus.success, aclDataPacketLength: UInt16, totalACLDataPackets: UInt8) {
            self.status = status
            self.aclDataPacketLength = aclDataPacketLength
            self.totalACLDataPackets = totalACLDataPackets
        }

        /// Names the fields.
        package mutating func code<C: FieldCoder>(_ coder: inout C) throws(PacketError) {
            try coder.field("Status", &status)
            try coder.field("LE_ACL_Data_Packet_Length", &aclDataPacketLength)
            try coder.field("Total_Num_LE_ACL_Data_Packets", &totalACLDataPackets)
        }
    }

    /// The command's number.
    package static var opcode: Opcode { Opcode(group: 0x08, command: 0x0002) }
    /// The command's name.
    package static var name: String { "LE Read Buffer Size" }
    /// Its place among the supported commands.
    package static var supportBit: SupportedCommands.Bit? { .init(octet: 25, bit: 1) }

    /// The command; it has no parameters.
    package init() {}

    /// Nothing to name.
    package mutating func code<C: FieldCoder>(_ coder: inout C) throws(PacketError) {}
}

/// LE Read Buffer Size [v2] (Core Vol 4 Part E 7.8.2): reads the buffers for LE data and for isochronous data.
package struct LEReadBufferSizeV2: HCICommand {
    /// The return parameters.
    package struct Response: HCIResponse {
        /// Whether and why the command failed.
        package var status = HCIStatus.success
        /// The longest ACL payload that a buffer takes, in octets, 27 at least; 0 when LE shares the buffers of BR/EDR.
        package var aclDataPacketLength: UInt16 = 0
        /// How many ACL packets the controller holds; 0 when LE shares the buffers of BR/EDR.
        package var totalACLDataPackets: UInt8 = 0
        /// The longest isochronous payload that a buffer takes, in octets; 0 for none.
        package var isoDataPacketLength: UInt16 = 0
        /// How many isochronous packets the controller holds; 0 for none.
        package var totalISODataPackets: UInt8 = 0

        /// Success, all else zero.
        package init() {}

        /// These return parameters.
        package init(
            status: HCIStatus = HCIStatus.success,
            aclDataPacketLength: UInt16,
            totalACLDataPackets: UInt8,
            isoDataPacketLength: UInt16,
            totalISODataPackets: UInt8
        ) {
            self.status = status
            self.aclDataPacketLength = aclDataPacketLength
            self.totalACLDataPackets = totalACLDataPackets
            self.isoDataPacketLength = isoDataPacketLength
            self.totalISODataPackets = totalISODataPackets
        }

        /// Names the fields.
        package mutating func code<C: FieldCoder>(_ coder: inout C) throws(PacketError) {
            try coder.field("Status", &status)
            try coder.field("LE_ACL_Data_Packet_Length", &aclDataPacketLength)
            try coder.field("Total_Num_LE_ACL_Data_Packets", &totalACLDataPackets)
            try coder.field("ISO_Data_Packet_Length", &isoDataPacketLength)
            try coder.field("Total_Num_ISO_Data_Packets", &totalISODataPackets)
        }
    }

    /// The command's number.
    package static var opcode: Opcode { Opcode(group: 0x08, command: 0x0060) }
    /// The command's name.
    package static var name: String { "LE Read Buffer Size [v2]" }
    /// Its place among the supported commands.
    package static var supportBit: SupportedCommands.Bit? { .init(octet: 41, bit: 5) }

    /// The command; it has no parameters.
    package init() {}

    /// Nothing to name.
    package mutating func code<C: FieldCoder>(_ coder: inout C) throws(PacketError) {}
}

/// LE Read Local Supported Features Page 0 (Core Vol 4 Part E 7.8.3): reads what the link layer can do.
package struct LEReadLocalSupportedFeatures: HCICommand {
    /// The return parameters.
    package struct Response: HCIResponse {
        /// Whether and why the command failed.
        package var status = HCIStatus.success
        /// The features.
        package var features: LEFeatures = []

        /// Success, all else zero.
        package init() {}

        /// These return parameters.
        package init(status: HCIStatus = HCIStatus.success, features: LEFeatures) {
            self.status = status
            self.features = features
        }

        /// Names the fields.
        package mutating func code<C: FieldCoder>(_ coder: inout C) throws(PacketError) {
            try coder.field("Status", &status)
            try coder.field("LE_Features", &features)
        }
    }

    /// The command's number.
    package static var opcode: Opcode { Opcode(group: 0x08, command: 0x0003) }
    /// The command's name.
    package static var name: String { "LE Read Local Supported Features Page 0" }
    /// Its place among the supported commands.
    package static var supportBit: SupportedCommands.Bit? { .init(octet: 25, bit: 2) }

    /// The command; it has no parameters.
    package init() {}

    /// Nothing to name.
    package mutating func code<C: FieldCoder>(_ coder: inout C) throws(PacketError) {}
}

/// LE Set Random Address (Core Vol 4 Part E 7.8.4): sets the random address for legacy advertising, scanning and
/// initiating.
package struct LESetRandomAddress: HCICommand {
    /// The command's number.
    package static var opcode: Opcode { Opcode(group: 0x08, command: 0x0005) }
    /// The command's name.
    package static var name: String { "LE Set Random Address" }
    /// Its place among the supported commands.
    package static var supportBit: SupportedCommands.Bit? { .init(octet: 25, bit: 4) }

    /// The random address.
    package var address = BluetoothAddress(0, kind: .randomDevice)

    /// A command with every parameter zero.
    package init() {}

    /// A command with these parameters.
    package init(address: BluetoothAddress = BluetoothAddress(0, kind: .randomDevice)) {
        self.address = address
    }

    /// Names the parameters.
    package mutating func code<C: FieldCoder>(_ coder: inout C) throws(PacketError) {
        try coder.address("Random_Address", &address)
    }
}

/// LE Read Supported States (Core Vol 4 Part E 7.8.27): reads which states the link layer can be in, and in which at
/// once.
package struct LEReadSupportedStates: HCICommand {
    /// The return parameters.
    package struct Response: HCIResponse {
        /// Whether and why the command failed.
        package var status = HCIStatus.success
        /// The states.
        package var states: LEStates = []

        /// Success, all else zero.
        package init() {}

        /// These return parameters.
        package init(status: HCIStatus = HCIStatus.success, states: LEStates) {
            self.status = status
            self.states = states
        }

        /// Names the fields.
        package mutating func code<C: FieldCoder>(_ coder: inout C) throws(PacketError) {
            try coder.field("Status", &status)
            try coder.field("LE_States", &states)
        }
    }

    /// The command's number.
    package static var opcode: Opcode { Opcode(group: 0x08, command: 0x001C) }
    /// The command's name.
    package static var name: String { "LE Read Supported States" }
    /// Its place among the supported commands.
    package static var supportBit: SupportedCommands.Bit? { .init(octet: 28, bit: 3) }

    /// The command; it has no parameters.
    package init() {}

    /// Nothing to name.
    package mutating func code<C: FieldCoder>(_ coder: inout C) throws(PacketError) {}
}

/// LE Read Transmit Power (Core Vol 4 Part E 7.8.74): reads the range of the transmit power.
package struct LEReadTransmitPower: HCICommand {
    /// The return parameters.
    package struct Response: HCIResponse {
        /// Whether and why the command failed.
        package var status = HCIStatus.success
        /// The lowest power in dBm, -127 to 20.
        package var minimum: Int8 = 0
        /// The highest power in dBm, -127 to 20.
        package var maximum: Int8 = 0

        /// Success, all else zero.
        package init() {}

        /// These return parameters.
        package init(status: HCIStatus = HCIStatus.success, minimum: Int8, maximum: Int8) {
            self.status = status
            self.minimum = minimum
            self.maximum = maximum
        }

        /// Names the fields.
        package mutating func code<C: FieldCoder>(_ coder: inout C) throws(PacketError) {
            try coder.field("Status", &status)
            try coder.field("Min_TX_Power", &minimum)
            try coder.field("Max_TX_Power", &maximum)
        }
    }

    /// The command's number.
    package static var opcode: Opcode { Opcode(group: 0x08, command: 0x004B) }
    /// The command's name.
    package static var name: String { "LE Read Transmit Power" }
    /// Its place among the supported commands.
    package static var supportBit: SupportedCommands.Bit? { .init(octet: 38, bit: 7) }

    /// The command; it has no parameters.
    package init() {}

    /// Nothing to name.
    package mutating func code<C: FieldCoder>(_ coder: inout C) throws(PacketError) {}
}

/// LE Set Host Feature [v1] (Core Vol 4 Part E 7.8.115): tells the controller of a feature of the host.
package struct LESetHostFeature: HCICommand {
    /// The command's number.
    package static var opcode: Opcode { Opcode(group: 0x08, command: 0x0074) }
    /// The command's name.
    package static var name: String { "LE Set Host Feature [v1]" }
    /// Its place among the supported commands.
    package static var supportBit: SupportedCommands.Bit? { .init(octet: 44, bit: 1) }

    /// The number of the feature's bit among the LE features.
    package var bitNumber: UInt8 = 0
    /// Whether the host has the feature.
    package var isSupported = false

    /// A command with every parameter zero.
    package init() {}

    /// A command with these parameters.
    package init(bitNumber: UInt8, isSupported: Bool) {
        self.bitNumber = bitNumber
        self.isSupported = isSupported
    }

    /// Names the parameters.
    package mutating func code<C: FieldCoder>(_ coder: inout C) throws(PacketError) {
        try coder.field("Bit_Number", &bitNumber)
        try coder.field("Bit_Value", &isSupported)
    }
}
