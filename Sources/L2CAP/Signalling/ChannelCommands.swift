import BluetoothTypes

/// Disconnection Request (Core Vol 3 Part A 4.6).
package struct DisconnectionRequest: SignallingCommand {
    package static let code = SignallingCode.disconnectionRequest
    /// The channel at the receiver of the request.
    package var destination = ChannelIdentifier.null
    /// The channel at the sender of the request.
    package var source = ChannelIdentifier.null

    package init() {}

    /// Creates a request that closes the channel between the two ends.
    package init(destination: ChannelIdentifier, source: ChannelIdentifier) {
        self.destination = destination
        self.source = source
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

    /// Creates the response to `request`.
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

    package init(_ channel: ChannelIdentifier, credits: UInt16) {
        self.channel = channel
        self.credits = credits
    }

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

/// The result of a reconfiguration (Core Vol 3 Part A 4.28).
package struct ReconfigureResult: WireValue, CustomStringConvertible {
    package var rawValue: UInt16
    /// Creates a result from any number, assigned or not.
    package init(rawValue: UInt16) { self.rawValue = rawValue }

    /// The sizes are accepted.
    package static let success = ReconfigureResult(rawValue: 0x0000)
    /// The request reduces the MTU of a channel, which is not allowed.
    package static let mtuReduced = ReconfigureResult(rawValue: 0x0001)
    /// The request reduces the MPS of several channels at once, which is not allowed.
    package static let mpsReduced = ReconfigureResult(rawValue: 0x0002)
    /// A channel does not exist.
    package static let invalidDestination = ReconfigureResult(rawValue: 0x0003)
    /// Another parameter is not acceptable.
    package static let unacceptableParameters = ReconfigureResult(rawValue: 0x0004)

    private static let names: [UInt16: String] = [
        0: "success", 1: "MTU reduced", 2: "MPS reduced", 3: "invalid destination CID", 4: "unacceptable parameters",
    ]

    /// The name of the result, for logs, or else the number.
    package var description: String { Self.names[rawValue] ?? "result 0x" + String(rawValue, radix: 16) }
}

/// L2CAP Credit Based Reconfigure Response (Core Vol 3 Part A 4.28).
package struct ReconfigureResponse: SignallingCommand {
    package static let code = SignallingCode.reconfigureResponse
    /// Whether the sizes were accepted, or why not.
    package var result = ReconfigureResult.success

    /// Creates an accepting response.
    package init() {}

    package init(_ result: ReconfigureResult) {
        self.result = result
    }

    package mutating func code<C: FieldCoder>(_ coder: inout C) throws(PacketError) {
        try coder.field("Result", &result)
    }
}
