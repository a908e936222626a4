import BluetoothTypes

/// Command Reject (Core Vol 3 Part A 4.1).
public struct CommandReject: SignallingCommand {
    /// Why a command was rejected.
    public struct Reason: WireValue {
        /// The number on the wire.
        public var rawValue: UInt16
        /// Any number, known or not.
        public init(rawValue: UInt16) { self.rawValue = rawValue }

        /// Unknown, malformed, or not for this role.
        public static let notUnderstood = Reason(rawValue: 0)
        /// The packet is longer than the signalling channel carries; the data are the limit.
        public static let signallingMTUExceeded = Reason(rawValue: 1)
        /// A channel that does not exist; the data are the two channel numbers of the request.
        public static let invalidChannel = Reason(rawValue: 2)
    }

    /// The command's code.
    public static let code = SignallingCode.commandReject
    /// Why the command was rejected.
    public var reason = Reason.notUnderstood
    /// More about the reason.
    public var data = PacketBuffer(headroom: 0)

    /// Not understood.
    public init() {}

    /// A rejection for the given reason.
    public init(_ reason: Reason, data: PacketBuffer = PacketBuffer(headroom: 0)) {
        self.reason = reason
        self.data = data
    }

    /// Names the fields.
    public mutating func code<C: FieldCoder>(_ coder: inout C) throws(PacketError) {
        try coder.field("Reason", &reason)
        try coder.rest("Reason Data", &data)
    }
}

extension ConnectionParameters: SignallingCommand {
    /// The code of the request that these are the fields of.
    public static let code = SignallingCode.parameterUpdateRequest
}

/// Connection Parameter Update Response (Core Vol 3 Part A 4.21).
public struct ParameterUpdateResponse: SignallingCommand {
    /// The command's code.
    public static let code = SignallingCode.parameterUpdateResponse
    /// 0 when the parameters are accepted, 1 when they are rejected.
    public var result: UInt16 = 0

    /// Accepted.
    public init() {}

    /// Accepted or rejected.
    public init(isAccepted: Bool) {
        result = isAccepted ? 0 : 1
    }

    /// Names the fields.
    public mutating func code<C: FieldCoder>(_ coder: inout C) throws(PacketError) {
        try coder.field("Result", &result)
    }
}

/// Disconnection Request (Core Vol 3 Part A 4.6).
public struct DisconnectionRequest: SignallingCommand {
    /// The command's code.
    public static let code = SignallingCode.disconnectionRequest
    /// The channel at the receiver of the request.
    public var destination = ChannelIdentifier(rawValue: 0)
    /// The channel at its sender.
    public var source = ChannelIdentifier(rawValue: 0)

    /// All zero.
    public init() {}

    /// Names the fields.
    public mutating func code<C: FieldCoder>(_ coder: inout C) throws(PacketError) {
        try coder.field("Destination CID", &destination)
        try coder.field("Source CID", &source)
    }
}

/// What an answer to a request for credit-based channels says (Core Vol 3 Part A 4.23 and 4.26).
public struct ChannelResult: WireValue {
    /// The number on the wire.
    public var rawValue: UInt16
    /// Any number, known or not.
    public init(rawValue: UInt16) { self.rawValue = rawValue }

    /// Nobody listens on the SPSM.
    public static let spsmNotSupported = ChannelResult(rawValue: 0x0002)
    /// The request contradicts itself or the specification (enhanced channels only).
    public static let invalidParameters = ChannelResult(rawValue: 0x000C)
}

/// LE Credit Based Connection Request (Core Vol 3 Part A 4.22).
public struct CreditBasedConnectionRequest: SignallingCommand {
    /// The command's code.
    public static let code = SignallingCode.creditBasedConnectionRequest
    /// The service that the channel is for.
    public var spsm: UInt16 = 0
    /// The channel at the sender of the request.
    public var source = ChannelIdentifier(rawValue: 0)
    /// The longest SDU that the sender takes.
    public var mtu: UInt16 = 0
    /// The longest payload of a frame that the sender takes.
    public var mps: UInt16 = 0
    /// Frames that may be sent to the sender at first.
    public var credits: UInt16 = 0

    /// All zero.
    public init() {}

    /// Names the fields.
    public mutating func code<C: FieldCoder>(_ coder: inout C) throws(PacketError) {
        try coder.field("SPSM", &spsm)
        try coder.field("Source CID", &source)
        try coder.field("MTU", &mtu)
        try coder.field("MPS", &mps)
        try coder.field("Initial Credits", &credits)
    }
}

/// LE Credit Based Connection Response (Core Vol 3 Part A 4.23). In a refusal only the result counts.
public struct CreditBasedConnectionResponse: SignallingCommand {
    /// The command's code.
    public static let code = SignallingCode.creditBasedConnectionResponse
    /// The channel at the sender of the response.
    public var destination = ChannelIdentifier(rawValue: 0)
    /// The longest SDU that the sender takes.
    public var mtu: UInt16 = 0
    /// The longest payload of a frame that the sender takes.
    public var mps: UInt16 = 0
    /// Frames that may be sent to the sender at first.
    public var credits: UInt16 = 0
    /// Whether and why the channel was refused.
    public var result = ChannelResult(rawValue: 0)

    /// All zero.
    public init() {}

    /// A refusal.
    public init(refused result: ChannelResult) {
        self.result = result
    }

    /// Names the fields.
    public mutating func code<C: FieldCoder>(_ coder: inout C) throws(PacketError) {
        try coder.field("Destination CID", &destination)
        try coder.field("MTU", &mtu)
        try coder.field("MPS", &mps)
        try coder.field("Initial Credits", &credits)
        try coder.field("Result", &result)
    }
}

/// L2CAP Credit Based Connection Request for enhanced channels (Core Vol 3 Part A 4.25).
public struct EnhancedConnectionRequest: SignallingCommand {
    /// Most channels in one request.
    public static let maximumChannels = 5

    /// The command's code.
    public static let code = SignallingCode.enhancedConnectionRequest
    /// The service that the channels are for.
    public var spsm: UInt16 = 0
    /// The longest SDU that the sender takes.
    public var mtu: UInt16 = 0
    /// The longest payload of a frame that the sender takes.
    public var mps: UInt16 = 0
    /// Frames that may be sent to the sender at first, on each channel.
    public var credits: UInt16 = 0
    /// The channels at the sender of the request.
    public var sources = ChannelList()

    /// All zero.
    public init() {}

    /// Names the fields.
    public mutating func code<C: FieldCoder>(_ coder: inout C) throws(PacketError) {
        try coder.field("SPSM", &spsm)
        try coder.field("MTU", &mtu)
        try coder.field("MPS", &mps)
        try coder.field("Initial Credits", &credits)
        try sources.code(&coder)
    }
}

/// L2CAP Credit Based Connection Response for enhanced channels (Core Vol 3 Part A 4.26).
public struct EnhancedConnectionResponse: SignallingCommand {
    /// The command's code.
    public static let code = SignallingCode.enhancedConnectionResponse
    /// The longest SDU that the sender takes.
    public var mtu: UInt16 = 0
    /// The longest payload of a frame that the sender takes.
    public var mps: UInt16 = 0
    /// Frames that may be sent to the sender at first, on each channel.
    public var credits: UInt16 = 0
    /// Whether and why channels were refused.
    public var result = ChannelResult(rawValue: 0)
    /// The channels at the sender of the response, 0 for one that was refused.
    public var destinations = ChannelList()

    /// All zero.
    public init() {}

    /// A refusal of `count` channels.
    public init(refused result: ChannelResult, count: Int) {
        self.result = result
        destinations.channels = Array(repeating: ChannelIdentifier(rawValue: 0), count: count)
    }

    /// Names the fields.
    public mutating func code<C: FieldCoder>(_ coder: inout C) throws(PacketError) {
        try coder.field("MTU", &mtu)
        try coder.field("MPS", &mps)
        try coder.field("Initial Credits", &credits)
        try coder.field("Result", &result)
        try destinations.code(&coder)
    }
}

/// L2CAP Credit Based Reconfigure Response (Core Vol 3 Part A 4.28).
public struct ReconfigureResponse: SignallingCommand {
    /// The command's code.
    public static let code = SignallingCode.reconfigureResponse
    /// The result for a channel that does not exist.
    public static let invalidDestination: UInt16 = 0x0003
    /// 0 when the sizes are accepted.
    public var result: UInt16 = 0

    /// Accepted.
    public init() {}

    /// The given result.
    public init(result: UInt16) {
        self.result = result
    }

    /// Names the fields.
    public mutating func code<C: FieldCoder>(_ coder: inout C) throws(PacketError) {
        try coder.field("Result", &result)
    }
}

/// The channel numbers at the end of the enhanced commands: one to five of them (AB-C03).
public struct ChannelList: PacketFields, Hashable, Sendable {
    /// The numbers.
    public var channels: [ChannelIdentifier] = []

    /// No channels.
    public init() {}

    /// Names the fields.
    public mutating func code<C: FieldCoder>(_ coder: inout C) throws(PacketError) {
        if coder.isReading {
            let octets = coder.remaining
            guard octets % 2 == 0, (1...EnhancedConnectionRequest.maximumChannels).contains(octets / 2) else {
                throw PacketError(.length(octets), at: "CID list")
            }
            channels = Array(repeating: ChannelIdentifier(rawValue: 0), count: octets / 2)
        }
        for index in channels.indices { try coder.field("CID", &channels[index]) }
    }
}
