import BluetoothTypes

/// Disconnection Request (Core Vol 3 Part A 4.6).
package struct DisconnectionRequest: SignallingCommand {
    package static let code = SignallingCode.disconnectionRequest
    /// The channel at the receiver of the request.
    package var destination = ChannelIdentifier.null
    /// The channel at the sender of the request.
    package var source = ChannelIdentifier.null

    package init() {}

    package init(destination: ChannelIdentifier, source: ChannelIdentifier) {
        (self.destination, self.source) = (destination, source)
    }

    package mutating func code<C: FieldCoder>(_ coder: inout C) throws(PacketError) {
        try coder.field("Destination CID", &destination)
        try coder.field("Source CID", &source)
    }
}

/// Disconnection Response (Core Vol 3 Part A 4.7), which repeats the identifiers of the request.
package struct DisconnectionResponse: SignallingCommand {
    package static let code = SignallingCode.disconnectionResponse
    /// The channel at the receiver of the request.
    package var destination = ChannelIdentifier.null
    /// The channel at the sender of the request.
    package var source = ChannelIdentifier.null

    package init() {}

    package init(_ request: DisconnectionRequest) {
        destination = request.destination
        source = request.source
    }

    package mutating func code<C: FieldCoder>(_ coder: inout C) throws(PacketError) {
        try coder.field("Destination CID", &destination)
        try coder.field("Source CID", &source)
    }
}

/// Flow Control Credit (Core Vol 3 Part A 4.24).
package struct FlowControlCredit: SignallingCommand {
    package static let code = SignallingCode.flowControlCredit
    /// The channel at the sender of the command.
    package var channel = ChannelIdentifier.null
    /// The number of additional frames that may be sent on the channel.
    package var credits: UInt16 = 0

    package init() {}
    package init(_ channel: ChannelIdentifier, credits: UInt16) { (self.channel, self.credits) = (channel, credits) }

    package mutating func code<C: FieldCoder>(_ coder: inout C) throws(PacketError) {
        try coder.field("CID", &channel)
        try coder.field("Credits", &credits)
    }
}

/// L2CAP Credit Based Reconfigure Request (Core Vol 3 Part A 4.27): the sender announces the sizes that it accepts from
/// now on.
package struct ReconfigureRequest: SignallingCommand {
    package static let code = SignallingCode.reconfigureRequest
    /// The longest SDU that the sender accepts, in octets.
    package var mtu: UInt16 = 0
    /// The longest frame payload that the sender accepts, in octets.
    package var mps: UInt16 = 0
    /// The channels at the sender of the request, although the specification calls them destinations.
    package var channels = ChannelList()

    package init() {}

    package init(_ channels: [ChannelIdentifier], mtu: UInt16, mps: UInt16) {
        self.channels = ChannelList(channels)
        self.mtu = mtu
        self.mps = mps
    }

    package mutating func code<C: FieldCoder>(_ coder: inout C) throws(PacketError) {
        try coder.field("MTU", &mtu)
        try coder.field("MPS", &mps)
        try channels.code(&coder)
    }
}

/// L2CAP Credit Based Reconfigure Response (Core Vol 3 Part A 4.28).
package struct ReconfigureResponse: SignallingCommand {
    package static let code = SignallingCode.reconfigureResponse
    /// Whether the sizes were accepted, or why not.
    package var result = ReconfigureResult.success

    package init() {}
    package init(_ result: ReconfigureResult) { self.result = result }

    package mutating func code<C: FieldCoder>(_ coder: inout C) throws(PacketError) {
        try coder.field("Result", &result)
    }
}
