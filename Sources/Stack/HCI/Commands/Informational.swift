import BluetoothTypes

/// Reads the versions of the controller (Core Vol 4 Part E 7.4.1).
package struct ReadLocalVersionInformation: ParameterlessCommand {
    package struct Response: HCIResponse {
        package var status = HCIStatus.success
        /// The HCI version, a number assigned by the Bluetooth SIG.
        package var hciVersion = SpecificationVersion(rawValue: 0)
        /// The manufacturer's HCI revision.
        package var hciRevision: UInt16 = 0
        /// The link-layer version, a number assigned by the Bluetooth SIG.
        package var linkLayerVersion = SpecificationVersion(rawValue: 0)
        /// The manufacturer's company identifier, as assigned by the Bluetooth SIG.
        package var companyIdentifier: UInt16 = 0
        /// The manufacturer's revision of the link layer.
        package var linkLayerSubversion: UInt16 = 0

        package init() {}

        package mutating func code<C: FieldCoder>(_ coder: inout C) throws(PacketError) {
            try coder.field("Status", &status)
            try coder.field("HCI_Version", &hciVersion)
            try coder.field("HCI_Subversion", &hciRevision)
            try coder.field("LMP_Version", &linkLayerVersion)
            try coder.field("Company_Identifier", &companyIdentifier)
            try coder.field("LMP_Subversion", &linkLayerSubversion)
        }
    }

    package static let entry = CommandEntry(.informational, 0x01, "Read Local Version Information", bit: (14, 3))

    package init() {}
}

/// Reads the commands that the controller supports (Core Vol 4 Part E 7.4.2).
package struct ReadLocalSupportedCommands: ParameterlessCommand {
    package struct Response: HCIResponse {
        package var status = HCIStatus.success
        package var commands = SupportedCommands()

        package init() {}
        package init(commands: SupportedCommands) { self.commands = commands }

        package mutating func code<C: FieldCoder>(_ coder: inout C) throws(PacketError) {
            try coder.field("Status", &status)
            try coder.field("Supported_Commands", &commands)
        }
    }

    /// The command has no bit, because a host reads all the other bits with it.
    package static let entry = CommandEntry(.informational, 0x02, "Read Local Supported Commands", bit: nil)

    package init() {}
}

/// Reads the features of the controller other than those of LE (Core Vol 4 Part E 7.4.3).
package struct ReadLocalSupportedFeatures: ParameterlessCommand {
    package struct Response: HCIResponse {
        package var status = HCIStatus.success
        package var features: LMPFeatures = []

        package init() {}
        package init(features: LMPFeatures) { self.features = features }

        package mutating func code<C: FieldCoder>(_ coder: inout C) throws(PacketError) {
            try coder.field("Status", &status)
            try coder.field("LMP_Features", &features)
        }
    }

    package static let entry = CommandEntry(.informational, 0x03, "Read Local Supported Features", bit: (14, 5))

    package init() {}
}

/// Reads the BR/EDR buffers, which LE shares if it has none of its own (Core Vol 4 Part E 7.4.5).
package struct ReadBufferSize: ParameterlessCommand {
    package struct Response: HCIResponse {
        package var status = HCIStatus.success
        /// The size of an ACL data buffer, in octets.
        package var aclDataPacketLength: UInt16 = 0
        /// The maximum length of synchronous data in a packet, in octets.
        package var synchronousDataPacketLength: UInt8 = 0
        package var totalACLDataPackets: UInt16 = 0
        package var totalSynchronousDataPackets: UInt16 = 0

        package init() {}

        package mutating func code<C: FieldCoder>(_ coder: inout C) throws(PacketError) {
            try coder.field("Status", &status)
            try coder.field("ACL_Data_Packet_Length", &aclDataPacketLength)
            try coder.field("Synchronous_Data_Packet_Length", &synchronousDataPacketLength)
            try coder.field("Total_Num_ACL_Data_Packets", &totalACLDataPackets)
            try coder.field("Total_Num_Synchronous_Data_Packets", &totalSynchronousDataPackets)
        }
    }

    package static let entry = CommandEntry(.informational, 0x05, "Read Buffer Size", bit: (14, 7))

    package init() {}
}

/// Reads the public address (Core Vol 4 Part E 7.4.6).
package struct ReadBDADDR: ParameterlessCommand {
    package struct Response: HCIResponse {
        package var status = HCIStatus.success
        /// The public address; zero if there is none.
        package var address = BluetoothAddress.none

        package init() {}
        package init(address: BluetoothAddress) { self.address = address }

        package mutating func code<C: FieldCoder>(_ coder: inout C) throws(PacketError) {
            try coder.field("Status", &status)
            try coder.address("BD_ADDR", &address)
        }
    }

    package static let entry = CommandEntry(.informational, 0x09, "Read BD_ADDR", bit: (15, 1))

    package init() {}
}
