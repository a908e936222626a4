import BluetoothTypes

/// Suggests the maximum packet length of a connection (Core Vol 4 Part E 7.8.33).
package struct LESetDataLength: HCICommand {
    package typealias Response = StatusAndHandle

    package static let entry = CommandEntry(.le, 0x22, "LE Set Data Length", bit: (33, 6))

    package var handle = ConnectionHandle(rawValue: 0)
    /// The maximum payload for transmission, 0x001B to 0x00FB octets.
    package var txOctets: UInt16 = 0
    /// The maximum duration of a transmitted packet, 0x0148 to 0x4290 µs.
    package var txTime: UInt16 = 0

    package init() {}

    package init(handle: ConnectionHandle, txOctets: UInt16, txTime: UInt16) {
        (self.handle, self.txOctets, self.txTime) = (handle, txOctets, txTime)
    }

    package mutating func code<C: FieldCoder>(_ coder: inout C) throws(PacketError) {
        try coder.field("Connection_Handle", &handle)
        try coder.field("TX_Octets", &txOctets)
        try coder.field("TX_Time", &txTime)
    }
}

/// Reads the suggested maximum packet length of new connections (Core Vol 4 Part E 7.8.34).
package struct LEReadSuggestedDefaultDataLength: ParameterlessCommand {
    package struct Response: HCIResponse {
        package var status = HCIStatus.success
        /// The maximum payload for transmission, 0x001B to 0x00FB octets.
        package var txOctets: UInt16 = 0
        /// The maximum duration of a transmitted packet, 0x0148 to 0x4290 µs.
        package var txTime: UInt16 = 0

        package init() {}
        package init(txOctets: UInt16, txTime: UInt16) { (self.txOctets, self.txTime) = (txOctets, txTime) }

        package mutating func code<C: FieldCoder>(_ coder: inout C) throws(PacketError) {
            try coder.field("Status", &status)
            try coder.field("Suggested_Max_TX_Octets", &txOctets)
            try coder.field("Suggested_Max_TX_Time", &txTime)
        }
    }

    package static let entry = CommandEntry(.le, 0x23, "LE Read Suggested Default Data Length", bit: (33, 7))

    package init() {}
}

/// Suggests the maximum packet length of new connections (Core Vol 4 Part E 7.8.35).
package struct LEWriteSuggestedDefaultDataLength: HCICommand {
    package static let entry = CommandEntry(.le, 0x24, "LE Write Suggested Default Data Length", bit: (34, 0))

    /// The maximum payload for transmission, 0x001B to 0x00FB octets.
    package var txOctets: UInt16 = 0
    /// The maximum duration of a transmitted packet, 0x0148 to 0x4290 µs.
    package var txTime: UInt16 = 0

    package init() {}
    package init(txOctets: UInt16, txTime: UInt16) { (self.txOctets, self.txTime) = (txOctets, txTime) }

    package mutating func code<C: FieldCoder>(_ coder: inout C) throws(PacketError) {
        try coder.field("Suggested_Max_TX_Octets", &txOctets)
        try coder.field("Suggested_Max_TX_Time", &txTime)
    }
}

/// Reads the maximum packet lengths that the controller supports (Core Vol 4 Part E 7.8.46).
package struct LEReadMaximumDataLength: ParameterlessCommand {
    package struct Response: HCIResponse {
        package var status = HCIStatus.success
        /// The maximum payload for transmission, 0x001B to 0x00FB octets.
        package var txOctets: UInt16 = 0
        /// The maximum duration of a transmitted packet, 0x0148 to 0x4290 µs.
        package var txTime: UInt16 = 0
        /// The maximum payload for reception, 0x001B to 0x00FB octets.
        package var rxOctets: UInt16 = 0
        /// The maximum duration of a received packet, 0x0148 to 0x4290 µs.
        package var rxTime: UInt16 = 0

        package init() {}

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

        package mutating func code<C: FieldCoder>(_ coder: inout C) throws(PacketError) {
            try coder.field("Status", &status)
            try coder.field("Supported_Max_TX_Octets", &txOctets)
            try coder.field("Supported_Max_TX_Time", &txTime)
            try coder.field("Supported_Max_RX_Octets", &rxOctets)
            try coder.field("Supported_Max_RX_Time", &rxTime)
        }
    }

    package static let entry = CommandEntry(.le, 0x2F, "LE Read Maximum Data Length", bit: (35, 3))

    package init() {}
}
