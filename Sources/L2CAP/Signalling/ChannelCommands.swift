import BluetoothTypes

/// Disconnection Request (Core Vol 3 Part A 4.6).
public struct DisconnectionRequest: SignallingCommand {
    /// The command's code.
    public static let code = SignallingCode.disconnectionRequest
    /// The channel at the receiver of the request.
    public var destination = ChannelIdentifier.null
    /// The channel at its sender.
    public var source = ChannelIdentifier.null

    /// All zero.
    public init() {}

    /// Ends the channel between the two.
    public init(destination: ChannelIdentifier, source: ChannelIdentifier) {
        self.destination = destination
        self.source = source
    }

    /// Names the fields.
    public mutating func code<C: FieldCoder>(_ coder: inout C) throws(PacketError) {
        try coder.field("Destination CID", &destination)
        try coder.field("Source CID", &source)
    }
}

/// Disconnection Response (Core Vol 3 Part A 4.7): the two numbers of the request.
public struct DisconnectionResponse: SignallingCommand {
    /// The command's code.
    public static let code = SignallingCode.disconnectionResponse
    /// The channel at the receiver of the request.
    public var destination = ChannelIdentifier.null
    /// The channel at the sender of the request.
    public var source = ChannelIdentifier.null

    /// All zero.
    public init() {}

    /// The answer to `request`.
    public init(_ request: DisconnectionRequest) {
        destination = request.destination
        source = request.source
    }

    /// Names the fields.
    public mutating func code<C: FieldCoder>(_ coder: inout C) throws(PacketError) {
        try coder.field("Destination CID", &destination)
        try coder.field("Source CID", &source)
    }
}

/// Flow Control Credit (Core Vol 3 Part A 4.24).
public struct FlowControlCredit: SignallingCommand {
    /// The command's code.
    public static let code = SignallingCode.flowControlCredit
    /// The channel at the sender of the command.
    public var channel = ChannelIdentifier.null
    /// Frames that may be sent to it in addition.
    public var credits: UInt16 = 0

    /// All zero.
    public init() {}

    /// The given number of credits.
    public init(_ channel: ChannelIdentifier, credits: UInt16) {
        self.channel = channel
        self.credits = credits
    }

    /// Names the fields.
    public mutating func code<C: FieldCoder>(_ coder: inout C) throws(PacketError) {
        try coder.field("CID", &channel)
        try coder.field("Credits", &credits)
    }
}

/// L2CAP Credit Based Reconfigure Request (Core Vol 3 Part A 4.27): the sender takes other sizes from now on.
public struct ReconfigureRequest: SignallingCommand {
    /// The command's code.
    public static let code = SignallingCode.reconfigureRequest
    /// The longest SDU that the sender takes.
    public var mtu: UInt16 = 0
    /// The longest payload of a frame that the sender takes.
    public var mps: UInt16 = 0
    /// The channels at the sender of the request, which the specification calls destinations nonetheless.
    public var channels = ChannelList()

    /// All zero.
    public init() {}

    /// Other sizes for the given channels.
    public init(_ channels: [ChannelIdentifier], mtu: UInt16, mps: UInt16) {
        self.channels = ChannelList(channels)
        self.mtu = mtu
        self.mps = mps
    }

    /// Names the fields.
    public mutating func code<C: FieldCoder>(_ coder: inout C) throws(PacketError) {
        try coder.field("MTU", &mtu)
        try coder.field("MPS", &mps)
        try channels.code(&coder)
    }
}

/// What the answer to a request for other sizes says (Core Vol 3 Part A 4.28).
public struct ReconfigureResult: WireValue, CustomStringConvertible {
    /// The number on the wire.
    public var rawValue: UInt16
    /// Any number, known or not.
    public init(rawValue: UInt16) { self.rawValue = rawValue }

    /// The sizes are accepted.
    public static let success = ReconfigureResult(rawValue: 0x0000)
    /// An MTU may not shrink.
    public static let mtuReduced = ReconfigureResult(rawValue: 0x0001)
    /// An MPS may shrink on one channel at a time only.
    public static let mpsReduced = ReconfigureResult(rawValue: 0x0002)
    /// A channel does not exist.
    public static let invalidDestination = ReconfigureResult(rawValue: 0x0003)
    /// Something else is wrong with the sizes.
    public static let unacceptableParameters = ReconfigureResult(rawValue: 0x0004)

    private static let names: [UInt16: String] = [
        0: "success", 1: "MTU reduced", 2: "MPS reduced", 3: "invalid destination CID", 4: "unacceptable parameters",
    ]

    /// The name for a log, or the number.
    public var description: String { Self.names[rawValue] ?? "result 0x" + String(rawValue, radix: 16) }
}

/// L2CAP Credit Based Reconfigure Response (Core Vol 3 Part A 4.28).
public struct ReconfigureResponse: SignallingCommand {
    /// The command's code.
    public static let code = SignallingCode.reconfigureResponse
    /// Whether the sizes are accepted.
    public var result = ReconfigureResult.success

    /// Accepted.
    public init() {}

    /// The given result.
    public init(_ result: ReconfigureResult) {
        self.result = result
    }

    /// Names the fields.
    public mutating func code<C: FieldCoder>(_ coder: inout C) throws(PacketError) {
        try coder.field("Result", &result)
    }
}
