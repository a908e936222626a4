import BluetoothTypes

/// Selects the LE events that the controller sends (Core Vol 4 Part E 7.8.1).
package struct LESetEventMask: HCICommand {
    package static let entry = CommandEntry(.le, 0x01, "LE Set Event Mask", bit: (25, 0))

    package var mask: LEEventMask = []

    package init() {}
    package init(mask: LEEventMask) { self.mask = mask }

    package mutating func code<C: FieldCoder>(_ coder: inout C) throws(PacketError) {
        try coder.field("LE_Event_Mask", &mask)
    }
}

/// Reads the buffers for LE ACL data, version 1 (Core Vol 4 Part E 7.8.2).
package struct LEReadBufferSize: ParameterlessCommand {
    package struct Response: HCIResponse {
        package var status = HCIStatus.success
        /// The size of a buffer for LE ACL data, in octets, at least 27; 0 if LE shares the BR/EDR buffers.
        package var aclDataPacketLength: UInt16 = 0
        /// The number of buffers for LE ACL data; 0 if LE shares the BR/EDR buffers.
        package var totalACLDataPackets: UInt8 = 0

        package init() {}

        package init(aclDataPacketLength: UInt16, totalACLDataPackets: UInt8) {
            (self.aclDataPacketLength, self.totalACLDataPackets) = (aclDataPacketLength, totalACLDataPackets)
        }

        package mutating func code<C: FieldCoder>(_ coder: inout C) throws(PacketError) {
            try coder.field("Status", &status)
            try coder.field("LE_ACL_Data_Packet_Length", &aclDataPacketLength)
            try coder.field("Total_Num_LE_ACL_Data_Packets", &totalACLDataPackets)
        }
    }

    package static let entry = CommandEntry(.le, 0x02, "LE Read Buffer Size", bit: (25, 1))

    package init() {}
}

/// Reads the buffers for LE ACL data and isochronous data (Core Vol 4 Part E 7.8.2).
package struct LEReadBufferSizeV2: ParameterlessCommand {
    package struct Response: HCIResponse {
        package var v1 = LEReadBufferSize.Response()
        /// The size of a buffer for isochronous data, in octets; 0 if there are none.
        package var isoDataPacketLength: UInt16 = 0
        /// The number of buffers for isochronous data; 0 if there are none.
        package var totalISODataPackets: UInt8 = 0
        package var status: HCIStatus {
            get { v1.status }
            set { v1.status = newValue }
        }

        package init() {}
        package init(_ v1: LEReadBufferSize.Response) { self.v1 = v1 }

        package mutating func code<C: FieldCoder>(_ coder: inout C) throws(PacketError) {
            try v1.code(&coder)
            try coder.field("ISO_Data_Packet_Length", &isoDataPacketLength)
            try coder.field("Total_Num_ISO_Data_Packets", &totalISODataPackets)
        }
    }

    package static let entry = CommandEntry(.le, 0x60, "LE Read Buffer Size [v2]", bit: (41, 5))

    package init() {}
}

/// Reads the link-layer features (Core Vol 4 Part E 7.8.3).
package struct LEReadLocalSupportedFeatures: ParameterlessCommand {
    package struct Response: HCIResponse {
        package var status = HCIStatus.success
        package var features: LEFeatures = []

        package init() {}
        package init(features: LEFeatures) { self.features = features }

        package mutating func code<C: FieldCoder>(_ coder: inout C) throws(PacketError) {
            try coder.field("Status", &status)
            try coder.field("LE_Features", &features)
        }
    }

    package static let entry = CommandEntry(.le, 0x03, "LE Read Local Supported Features Page 0", bit: (25, 2))

    package init() {}
}

/// Sets the random address for legacy advertising, scanning and initiating (Core Vol 4 Part E 7.8.4).
package struct LESetRandomAddress: HCICommand {
    package static let entry = CommandEntry(.le, 0x05, "LE Set Random Address", bit: (25, 4))

    /// The random device address, which applies to everything but advertising sets with their own.
    package var address = BluetoothAddress(0, kind: .randomDevice)

    package init() {}
    package init(address: BluetoothAddress = BluetoothAddress(0, kind: .randomDevice)) { self.address = address }

    package mutating func code<C: FieldCoder>(_ coder: inout C) throws(PacketError) {
        try coder.address("Random_Address", &address)
    }
}

/// Reads the supported link-layer states and combinations of states (Core Vol 4 Part E 7.8.27).
package struct LEReadSupportedStates: ParameterlessCommand {
    package struct Response: HCIResponse {
        package var status = HCIStatus.success
        package var states: LEStates = []

        package init() {}
        package init(states: LEStates) { self.states = states }

        package mutating func code<C: FieldCoder>(_ coder: inout C) throws(PacketError) {
            try coder.field("Status", &status)
            try coder.field("LE_States", &states)
        }
    }

    package static let entry = CommandEntry(.le, 0x1C, "LE Read Supported States", bit: (28, 3))

    package init() {}
}

/// Reads the range of the transmit power (Core Vol 4 Part E 7.8.74).
package struct LEReadTransmitPower: ParameterlessCommand {
    package struct Response: HCIResponse {
        package var status = HCIStatus.success
        /// The minimum power, in dBm, -127 to 20.
        package var minimum: Int8 = 0
        /// The maximum power, in dBm, -127 to 20.
        package var maximum: Int8 = 0

        package init() {}
        package init(minimum: Int8, maximum: Int8) { (self.minimum, self.maximum) = (minimum, maximum) }

        package mutating func code<C: FieldCoder>(_ coder: inout C) throws(PacketError) {
            try coder.field("Status", &status)
            try coder.field("Min_TX_Power", &minimum)
            try coder.field("Max_TX_Power", &maximum)
        }
    }

    package static let entry = CommandEntry(.le, 0x4B, "LE Read Transmit Power", bit: (38, 7))

    package init() {}
}

/// Declares a feature of the host (Core Vol 4 Part E 7.8.115).
package struct LESetHostFeature: HCICommand {
    package static let entry = CommandEntry(.le, 0x74, "LE Set Host Feature [v1]", bit: (44, 1))

    /// The bit number of the feature in ``LEFeatures``.
    package var bitNumber: UInt8 = 0
    package var isSupported = false

    package init() {}
    package init(bitNumber: UInt8, isSupported: Bool) { (self.bitNumber, self.isSupported) = (bitNumber, isSupported) }

    package mutating func code<C: FieldCoder>(_ coder: inout C) throws(PacketError) {
        try coder.field("Bit_Number", &bitNumber)
        try coder.field("Bit_Value", &isSupported)
    }
}

/// Reads the link-layer features of all pages (Core Vol 4 Part E 7.8.128).
package struct LEReadAllLocalSupportedFeatures: ParameterlessCommand {
    /// The length of all pages, in octets: 8 for page 0, and 24 for each of the ten others.
    package static let featureOctets = 248

    package struct Response: HCIResponse {
        package var status = HCIStatus.success
        /// The last page with a feature bit set.
        package var maxPage: UInt8 = 0
        /// The pages, 248 octets, least significant first. The first eight are those of
        /// ``LEReadLocalSupportedFeatures``.
        package var features: PacketBuffer = []

        package init() {}

        /// Creates a response with features of page 0 only.
        package init(page0 features: LEFeatures) {
            let octets = (0..<8).map { UInt8(truncatingIfNeeded: features.rawValue >> UInt64(8 * $0)) }
            let rest = [UInt8](repeating: 0, count: LEReadAllLocalSupportedFeatures.featureOctets - octets.count)
            self.features = PacketBuffer(octets + rest)
        }

        package mutating func code<C: FieldCoder>(_ coder: inout C) throws(PacketError) {
            try coder.field("Status", &status)
            try coder.field("Max_Page", &maxPage)
            try coder.bytes("LE_Features", &features, count: LEReadAllLocalSupportedFeatures.featureOctets)
        }
    }

    package static let entry = CommandEntry(.le, 0x87, "LE Read All Local Supported Features", bit: (47, 2))

    package init() {}
}

/// Reads the gain or loss between the radio and the antenna (Core Vol 4 Part E 7.8.75).
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

/// Sets the gain or loss between the radio and the antenna (Core Vol 4 Part E 7.8.76).
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
