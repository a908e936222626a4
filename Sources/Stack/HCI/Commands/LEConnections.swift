import BluetoothTypes

/// Connects to a peer (Core Vol 4 Part E 7.8.12). LE Connection Complete follows.
package struct LECreateConnection: HCICommand {
    package static let entry = CommandEntry(.le, 0x0D, "LE Create Connection", bit: (26, 4), .status)

    /// The scan interval, in units of 0.625 ms, 0x0004 to 0x4000.
    package var scanInterval: UInt16 = 0
    /// The scan window, in units of 0.625 ms, 0x0004 to 0x4000.
    package var scanWindow: UInt16 = 0
    /// Whether to connect to ``peerAddress`` or to a device on the filter accept list.
    package var filterPolicy = LEInitiatorFilterPolicy(rawValue: 0)
    /// The peer's address; not used with the filter accept list.
    package var peerAddress = BluetoothAddress.none
    package var ownAddressKind = OwnAddressKind(rawValue: 0)
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
        try coder.field("LE_Scan_Interval", &scanInterval)
        try coder.field("LE_Scan_Window", &scanWindow)
        try coder.field("Initiator_Filter_Policy", &filterPolicy)
        try coder.typedAddress("Peer_Address_Type", "Peer_Address", &peerAddress)
        try coder.field("Own_Address_Type", &ownAddressKind)
        try coder.field("Connection_Interval_Min", &intervalMin)
        try coder.field("Connection_Interval_Max", &intervalMax)
        try coder.field("Max_Latency", &maxLatency)
        try coder.field("Supervision_Timeout", &supervisionTimeout)
        try coder.field("Min_CE_Length", &minCELength)
        try coder.field("Max_CE_Length", &maxCELength)
    }
}

/// Cancels a connection attempt (Core Vol 4 Part E 7.8.13). LE Connection Complete with status 0x02 follows.
package struct LECreateConnectionCancel: ParameterlessCommand {
    package static let entry = CommandEntry(.le, 0x0E, "LE Create Connection Cancel", bit: (26, 5))

    package init() {}
}

/// Changes the parameters of a connection (Core Vol 4 Part E 7.8.18). LE Connection Update Complete follows.
package struct LEConnectionUpdate: HCICommand {
    package static let entry = CommandEntry(.le, 0x13, "LE Connection Update", bit: (27, 2), .status)

    package var handle = ConnectionHandle(rawValue: 0)
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
        try coder.field("Connection_Handle", &handle)
        try coder.field("Connection_Interval_Min", &intervalMin)
        try coder.field("Connection_Interval_Max", &intervalMax)
        try coder.field("Max_Latency", &maxLatency)
        try coder.field("Supervision_Timeout", &supervisionTimeout)
        try coder.field("Min_CE_Length", &minCELength)
        try coder.field("Max_CE_Length", &maxCELength)
    }
}

/// Tells the controller which channels are bad (Core Vol 4 Part E 7.8.19).
package struct LESetHostChannelClassification: HCICommand {
    package static let entry = CommandEntry(.le, 0x14, "LE Set Host Channel Classification", bit: (27, 3))

    /// 37 bits in 5 octets, channel 0 first; 0 for a bad channel.
    package var channelMap: PacketBuffer = []

    package init() {}
    package init(channelMap: PacketBuffer) { self.channelMap = channelMap }

    package mutating func code<C: FieldCoder>(_ coder: inout C) throws(PacketError) {
        try coder.bytes("Channel_Map", &channelMap, count: 5)
    }
}

/// Reads the channels that a connection uses (Core Vol 4 Part E 7.8.20).
package struct LEReadChannelMap: LinkCommand {
    package struct Response: HCIResponse {
        package var status = HCIStatus.success
        package var handle = ConnectionHandle(rawValue: 0)
        /// 37 bits in 5 octets, channel 0 first; 1 for a channel in use.
        package var channelMap: PacketBuffer = []

        package init() {}

        package init(status: HCIStatus = .success, handle: ConnectionHandle, channelMap: PacketBuffer) {
            (self.status, self.handle, self.channelMap) = (status, handle, channelMap)
        }

        package mutating func code<C: FieldCoder>(_ coder: inout C) throws(PacketError) {
            try coder.field("Status", &status)
            try coder.field("Connection_Handle", &handle)
            try coder.bytes("Channel_Map", &channelMap, count: 5)
        }
    }

    package static let entry = CommandEntry(.le, 0x15, "LE Read Channel Map", bit: (27, 4))

    package var handle = ConnectionHandle(rawValue: 0)

    package init() {}
}

/// Reads the link-layer features of a peer (Core Vol 4 Part E 7.8.21). LE Read Remote Features Complete follows.
package struct LEReadRemoteFeatures: LinkCommand {
    package static let entry = CommandEntry(.le, 0x16, "LE Read Remote Features Page 0", bit: (27, 5), .status)

    package var handle = ConnectionHandle(rawValue: 0)

    package init() {}
}

/// Accepts the connection parameters that a peer requests (Core Vol 4 Part E 7.8.31).
package struct LERemoteConnectionParameterRequestReply: HCICommand {
    package typealias Response = StatusAndHandle

    package static let entry = CommandEntry(.le, 0x20, "LE Remote Connection Parameter Request Reply", bit: (33, 4))

    package var handle = ConnectionHandle(rawValue: 0)
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
        try coder.field("Connection_Handle", &handle)
        try coder.field("Interval_Min", &intervalMin)
        try coder.field("Interval_Max", &intervalMax)
        try coder.field("Max_Latency", &maxLatency)
        try coder.field("Timeout", &supervisionTimeout)
        try coder.field("Min_CE_Length", &minCELength)
        try coder.field("Max_CE_Length", &maxCELength)
    }
}

/// Rejects the connection parameters that a peer requests (Core Vol 4 Part E 7.8.32).
package struct LERemoteConnectionParameterRequestNegativeReply: HCICommand {
    package typealias Response = StatusAndHandle

    package static let entry = CommandEntry(
        .le,
        0x21,
        "LE Remote Connection Parameter Request Negative Reply",
        bit: (33, 5)
    )

    package var handle = ConnectionHandle(rawValue: 0)
    /// The error code for the peer.
    package var reason = HCIStatus.success

    package init() {}
    package init(handle: ConnectionHandle, reason: HCIStatus) { (self.handle, self.reason) = (handle, reason) }

    package mutating func code<C: FieldCoder>(_ coder: inout C) throws(PacketError) {
        try coder.field("Connection_Handle", &handle)
        try coder.field("Reason", &reason)
    }
}

/// Reads the sleep clock accuracy of a peer (Core Vol 4 Part E 7.8.108). LE Request Peer SCA Complete follows.
package struct LERequestPeerSCA: LinkCommand {
    package static let entry = CommandEntry(.le, 0x6D, "LE Request Peer SCA", bit: (43, 2), .status)

    package var handle = ConnectionHandle(rawValue: 0)

    package init() {}
}
