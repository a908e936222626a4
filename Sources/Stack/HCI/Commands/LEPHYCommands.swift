import BluetoothTypes

/// Reads the PHYs of a connection (Core Vol 4 Part E 7.8.47).
package struct LEReadPHY: LinkCommand {
    package struct Response: HCIResponse {
        package var status = HCIStatus.success
        package var handle = ConnectionHandle(rawValue: 0)
        package var txPHY = LEPHY(rawValue: 0)
        package var rxPHY = LEPHY(rawValue: 0)

        package init() {}

        package init(status: HCIStatus = .success, handle: ConnectionHandle, txPHY: LEPHY, rxPHY: LEPHY) {
            (self.status, self.handle, self.txPHY, self.rxPHY) = (status, handle, txPHY, rxPHY)
        }

        package mutating func code<C: FieldCoder>(_ coder: inout C) throws(PacketError) {
            try coder.field("Status", &status)
            try coder.field("Connection_Handle", &handle)
            try coder.field("TX_PHY", &txPHY)
            try coder.field("RX_PHY", &rxPHY)
        }
    }

    package static let entry = CommandEntry(.le, 0x30, "LE Read PHY", bit: (35, 4))

    package var handle = ConnectionHandle(rawValue: 0)

    package init() {}
}

/// Sets the preferred PHYs of new connections (Core Vol 4 Part E 7.8.48).
package struct LESetDefaultPHY: HCICommand {
    package static let entry = CommandEntry(.le, 0x31, "LE Set Default PHY", bit: (35, 5))

    package var preference: LEPHYPreference = []
    package var txPHYs: LEPHYs = []
    package var rxPHYs: LEPHYs = []

    package init() {}

    package init(preference: LEPHYPreference, txPHYs: LEPHYs, rxPHYs: LEPHYs) {
        (self.preference, self.txPHYs, self.rxPHYs) = (preference, txPHYs, rxPHYs)
    }

    package mutating func code<C: FieldCoder>(_ coder: inout C) throws(PacketError) {
        try coder.field("All_PHYs", &preference)
        try coder.field("TX_PHYs", &txPHYs)
        try coder.field("RX_PHYs", &rxPHYs)
    }
}

/// Sets the preferred PHYs of a connection (Core Vol 4 Part E 7.8.49). LE PHY Update Complete follows.
package struct LESetPHY: HCICommand {
    package static let entry = CommandEntry(.le, 0x32, "LE Set PHY", bit: (35, 6), .status)

    package var handle = ConnectionHandle(rawValue: 0)
    package var preference: LEPHYPreference = []
    package var txPHYs: LEPHYs = []
    package var rxPHYs: LEPHYs = []
    package var codedOption = LECodedPHYOption(rawValue: 0)

    package init() {}

    package init(
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

    package mutating func code<C: FieldCoder>(_ coder: inout C) throws(PacketError) {
        try coder.field("Connection_Handle", &handle)
        try coder.field("All_PHYs", &preference)
        try coder.field("TX_PHYs", &txPHYs)
        try coder.field("RX_PHYs", &rxPHYs)
        try coder.field("PHY_Options", &codedOption)
    }
}
