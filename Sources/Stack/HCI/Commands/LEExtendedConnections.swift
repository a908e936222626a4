import BluetoothTypes

/// Connects to a peer on one or more PHYs (Core Vol 4 Part E 7.8.66). LE Enhanced Connection Complete follows.
package struct LEExtendedCreateConnection: HCICommand {
    package static let entry = CommandEntry(.le, 0x43, "LE Extended Create Connection [v1]", bit: (37, 7), .status)

    /// Whether to connect to ``peerAddress`` or to a device on the filter accept list.
    package var filterPolicy = LEInitiatorFilterPolicy(rawValue: 0)
    package var ownAddressKind = OwnAddressKind(rawValue: 0)
    /// The peer's address; not used with the filter accept list.
    package var peerAddress = BluetoothAddress.none
    /// The scanning and connection parameters for the 1M PHY; nil if it is not used.
    package var le1M: PHYConnectionParameters?
    /// The connection parameters for the 2M PHY, which is not used for scanning; nil if it is not used.
    package var le2M: PHYConnectionParameters?
    /// The scanning and connection parameters for the Coded PHY; nil if it is not used.
    package var coded: PHYConnectionParameters?

    package init() {}

    /// Codes the parameters. The mask of PHYs determines which ones follow.
    package mutating func code<C: FieldCoder>(_ coder: inout C) throws(PacketError) {
        try coder.field("Initiator_Filter_Policy", &filterPolicy)
        try coder.field("Own_Address_Type", &ownAddressKind)
        try coder.typedAddress("Peer_Address_Type", "Peer_Address", &peerAddress)
        var phys: LEPHYs = []
        if le1M != nil { phys.insert(.le1M) }
        if le2M != nil { phys.insert(.le2M) }
        if coded != nil { phys.insert(.coded) }
        try coder.phys("Initiating_PHYs", &phys, allowed: [.le1M, .le2M, .coded])
        try coder.optional("1M", &le1M, isPresent: phys.contains(.le1M))
        try coder.optional("2M", &le2M, isPresent: phys.contains(.le2M))
        try coder.optional("Coded", &coded, isPresent: phys.contains(.coded))
    }
}

/// The scanning and connection parameters for one PHY, in LE Extended Create Connection.
package struct PHYConnectionParameters: PacketFields, Hashable, Sendable {
    /// The scan interval, in units of 0.625 ms, 0x0004 to 0xFFFF.
    package var scanInterval: UInt16 = 0
    /// The scan window, in units of 0.625 ms, 0x0004 to 0xFFFF.
    package var scanWindow: UInt16 = 0
    /// The minimum connection interval, in units of 1.25 ms, 0x0006 to 0x0C80.
    package var intervalMin: UInt16 = 0
    /// The maximum connection interval, in units of 1.25 ms, 0x0006 to 0x0C80.
    package var intervalMax: UInt16 = 0
    /// The maximum peripheral latency, in connection events, 0 to 0x01F3.
    package var maxLatency: UInt16 = 0
    /// The supervision timeout, in units of 10 ms, 0x000A to 0x0C80.
    package var supervisionTimeout: UInt16 = 0
    /// The preferred minimum length of a connection event, in units of 0.625 ms.
    package var minCELength: UInt16 = 0
    /// The preferred maximum length of a connection event, in units of 0.625 ms.
    package var maxCELength: UInt16 = 0

    package init() {}

    package mutating func code<C: FieldCoder>(_ coder: inout C) throws(PacketError) {
        try coder.field("Scan_Interval", &scanInterval)
        try coder.field("Scan_Window", &scanWindow)
        try coder.field("Connection_Interval_Min", &intervalMin)
        try coder.field("Connection_Interval_Max", &intervalMax)
        try coder.field("Max_Latency", &maxLatency)
        try coder.field("Supervision_Timeout", &supervisionTimeout)
        try coder.field("Min_CE_Length", &minCELength)
        try coder.field("Max_CE_Length", &maxCELength)
    }
}

/// Connects to a peer on one or more PHYs, or to a peer that responded to a subevent of periodic advertising (Core Vol
/// 4 Part E 7.8.66). LE Enhanced Connection Complete [v2] follows.
package struct LEExtendedCreateConnectionV2: HCICommand {
    package static let entry = CommandEntry(.le, 0x85, "LE Extended Create Connection [v2]", bit: (47, 0), .status)

    /// The advertising handle of the train to which the peer is synchronized; 0xFF if no train is used.
    package var set: UInt8 = 0
    /// The subevent in which the connection request is sent; 0xFF if no train is used.
    package var periodicSubevent: UInt8 = 0
    package var v1 = LEExtendedCreateConnection()

    package init() {}

    package mutating func code<C: FieldCoder>(_ coder: inout C) throws(PacketError) {
        try coder.field("Advertising_Handle", &set)
        try coder.field("Subevent", &periodicSubevent)
        try v1.code(&coder)
    }
}
