import BluetoothTypes

/// Disconnection Request (Core Vol 3 Part A 4.6).
package struct DisconnectionRequest: SignallingCommand {
    /// The command's code.
    package static let code = SignallingCode.disconnectionRequest
    /// The channel at the receiver of the request.
    package var destination = ChannelIdentifier.null
    /// The channel at its sender.
    package var source = ChannelIdentifier.null

    package init() {}

    /// Ends the channel between the two.
    package init(destination: ChannelIdentifier, source: ChannelIdentifier) {
        self.destination = destination
        self.source = source
    }

    package mutating func code<C: FieldCoder>(_ coder: inout C) throws(PacketError) {
        try coder.field("Destination CID", &destination)
        try coder.field("Source CID", &source)
    }
}

/// Disconnection Response (Core Vol 3 Part A 4.7): the two numbers of the request.
package struct DisconnectionResponse: SignallingCommand {
    /// The command's code.
    package static let code = SignallingCode.disconnectionResponse
    /// The channel at the receiver of the request.
    package var destination = ChannelIdentifier.null
    /// The channel at the sender of the request.
    package var source = ChannelIdentifier.null

    package init() {}

    /// The answer to `request`.
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
    /// The command's code.
    package static let code = SignallingCode.flowControlCredit
    /// The channel at the sender of the command.
    package var channel = ChannelIdentifier.null
    /// Frames that may be sent to it in addition.
    package var credits: UInt16 = 0

    package init() {}

    /// The given number of credits.
    package init(_ channel: ChannelIdentifier, credits: UInt16) {
        self.channel = channel
        self.credits = credits
    }

    package mutating func code<C: FieldCoder>(_ coder: inout C) throws(PacketError) {
        try coder.field("CID", &channel)
        try coder.field("Credits", &credits)
    }
}

/// L2CAP Credit Based Reconfigure Request (Core Vol 3 Part A 4.27): the sender takes other sizes from now on.
package struct ReconfigureRequest: SignallingCommand {
    /// The command's code.
    package static let code = SignallingCode.reconfigureRequest
    /// The longest SDU that the sender takes.
    package var mtu: UInt16 = 0
    /// The longest payload of a frame that the sender takes.
    package var mps: UInt16 = 0
    /// The channels at the sender of the request, which the specification calls destinations nonetheless.
    package var channels = ChannelList()

    package init() {}

    /// Other sizes for the given channels.
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

/// What the answer to a request for other sizes says (Core Vol 3 Part A 4.28).
package struct ReconfigureResult: WireValue, CustomStringConvertible {
    package var rawValue: UInt16
    /// Any number, known or not.
    package init(rawValue: UInt16) { self.rawValue = rawValue }

    /// The sizes are accepted.
    package static let success = ReconfigureResult(rawValue: 0x0000)
    /// An MTU may not shrink.
    package static let mtuReduced = ReconfigureResult(rawValue: 0x0001)
    /// An MPS may shrink on one channel at a time only.
    package static let mpsReduced = ReconfigureResult(rawValue: 0x0002)
    /// A channel does not exist.
    package static let invalidDestination = ReconfigureResult(rawValue: 0x0003)
    /// Something else is wrong with the sizes.
    package static let unacceptableParameters = ReconfigureResult(rawValue: 0x0004)

    private static let names: [UInt16: String] = [
        0: "success", 1: "MTU reduced", 2: "MPS reduced", 3: "invalid destination CID", 4: "unacceptable parameters",
    ]

    /// The name for a log, or the number.
    package var description: String { Self.names[rawValue] ?? "result 0x" + String(rawValue, radix: 16) }
}

/// L2CAP Credit Based Reconfigure Response (Core Vol 3 Part A 4.28).
package struct ReconfigureResponse: SignallingCommand {
    /// The command's code.
    package static let code = SignallingCode.reconfigureResponse
    /// Whether the sizes are accepted.
    package var result = ReconfigureResult.success

    /// Accepted.
    package init() {}

    /// The given result.
    package init(_ result: ReconfigureResult) {
        self.result = result
    }

    package mutating func code<C: FieldCoder>(_ coder: inout C) throws(PacketError) {
        try coder.field("Result", &result)
    }
}
