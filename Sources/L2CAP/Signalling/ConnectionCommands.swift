import BluetoothTypes

/// The result of a request for credit-based channels (Core Vol 3 Part A 4.23 and 4.26). For enhanced channels some
/// results apply to only some of the channels.
package struct ChannelResult: WireValue, CustomStringConvertible {
    package var rawValue: UInt16
    /// Creates a result from any number, assigned or not.
    package init(rawValue: UInt16) { self.rawValue = rawValue }

    /// All channels were opened.
    package static let success = ChannelResult(rawValue: 0x0000)
    /// No server listens on the SPSM.
    package static let spsmNotSupported = ChannelResult(rawValue: 0x0002)
    /// There is no capacity for the channel, or for some of the channels.
    package static let insufficientResources = ChannelResult(rawValue: 0x0004)
    /// There is no key, or only one that is too weak.
    package static let insufficientAuthentication = ChannelResult(rawValue: 0x0005)
    /// The server does not authorize the peer.
    package static let insufficientAuthorization = ChannelResult(rawValue: 0x0006)
    /// The encryption key is too short.
    package static let encryptionKeySizeTooShort = ChannelResult(rawValue: 0x0007)
    /// There is a key, but the link is not encrypted.
    package static let insufficientEncryption = ChannelResult(rawValue: 0x0008)
    /// A source channel is outside the dynamic range.
    package static let invalidSource = ChannelResult(rawValue: 0x0009)
    /// A source channel is already in use.
    package static let sourceAlreadyAllocated = ChannelResult(rawValue: 0x000A)
    /// The server does not accept the parameters.
    package static let unacceptableParameters = ChannelResult(rawValue: 0x000B)
    /// The request contradicts itself or the specification (enhanced channels only).
    package static let invalidParameters = ChannelResult(rawValue: 0x000C)
    /// The final response follows (enhanced channels only).
    package static let pending = ChannelResult(rawValue: 0x000D)
    /// The final response follows once the peer is authenticated (enhanced channels only).
    package static let authenticationPending = ChannelResult(rawValue: 0x000E)
    /// The final response follows once the peer is authorized (enhanced channels only).
    package static let authorizationPending = ChannelResult(rawValue: 0x000F)

    /// Whether another response to the same request follows.
    var isPending: Bool { (Self.pending.rawValue...Self.authorizationPending.rawValue).contains(rawValue) }

    /// Whether some of the channels may have been opened nonetheless (Vol 3 Part A 4.26, table of results).
    var isPartial: Bool { [.insufficientResources, .invalidSource, .sourceAlreadyAllocated].contains(self) }

    private static let names: [UInt16: String] = [
        0x0000: "success", 0x0002: "SPSM not supported", 0x0004: "insufficient resources",
        0x0005: "insufficient authentication", 0x0006: "insufficient authorization",
        0x0007: "encryption key size too short", 0x0008: "insufficient encryption", 0x0009: "invalid source CID",
        0x000A: "source CID already allocated", 0x000B: "unacceptable parameters", 0x000C: "invalid parameters",
        0x000D: "pending", 0x000E: "authentication pending", 0x000F: "authorization pending",
    ]

    /// The name of the result, for logs, or else the number.
    package var description: String { Self.names[rawValue] ?? "result 0x" + String(rawValue, radix: 16) }
}

/// LE Credit Based Connection Request (Core Vol 3 Part A 4.22).
package struct CreditBasedConnectionRequest: SignallingCommand {
    package static let code = SignallingCode.creditBasedConnectionRequest
    /// The service to connect to.
    package var spsm = SPSM(rawValue: 0)
    /// The channel at the sender of the request.
    package var source = ChannelIdentifier(rawValue: 0)
    /// The longest SDU that the sender accepts, in octets.
    package var mtu: UInt16 = 0
    /// The longest frame payload that the sender accepts, in octets.
    package var mps: UInt16 = 0
    /// The initial credits: the number of frames that may be sent to the sender.
    package var credits: UInt16 = 0

    package init() {}

    package mutating func code<C: FieldCoder>(_ coder: inout C) throws(PacketError) {
        try coder.field("SPSM", &spsm)
        try coder.field("Source CID", &source)
        try coder.field("MTU", &mtu)
        try coder.field("MPS", &mps)
        try coder.field("Initial Credits", &credits)
    }
}

/// LE Credit Based Connection Response (Core Vol 3 Part A 4.23). In a refusal only the result is significant.
package struct CreditBasedConnectionResponse: SignallingCommand {
    package static let code = SignallingCode.creditBasedConnectionResponse
    /// The channel at the sender of the response.
    package var destination = ChannelIdentifier(rawValue: 0)
    /// The longest SDU that the sender accepts, in octets.
    package var mtu: UInt16 = 0
    /// The longest frame payload that the sender accepts, in octets.
    package var mps: UInt16 = 0
    /// The initial credits: the number of frames that may be sent to the sender.
    package var credits: UInt16 = 0
    /// Whether the channel was opened, or why not.
    package var result = ChannelResult.success

    package init() {}

    /// Creates a refusal.
    package init(refused result: ChannelResult) {
        self.result = result
    }

    package mutating func code<C: FieldCoder>(_ coder: inout C) throws(PacketError) {
        try coder.field("Destination CID", &destination)
        try coder.field("MTU", &mtu)
        try coder.field("MPS", &mps)
        try coder.field("Initial Credits", &credits)
        try coder.field("Result", &result)
    }
}

/// L2CAP Credit Based Connection Request, for enhanced channels (Core Vol 3 Part A 4.25).
package struct EnhancedConnectionRequest: SignallingCommand {
    package static let code = SignallingCode.enhancedConnectionRequest
    /// The service to connect to.
    package var spsm = SPSM(rawValue: 0)
    /// The longest SDU that the sender accepts, in octets.
    package var mtu: UInt16 = 0
    /// The longest frame payload that the sender accepts, in octets.
    package var mps: UInt16 = 0
    /// The initial credits of each channel: the number of frames that may be sent to the sender.
    package var credits: UInt16 = 0
    /// The channels at the sender of the request.
    package var sources = ChannelList()

    package init() {}

    package mutating func code<C: FieldCoder>(_ coder: inout C) throws(PacketError) {
        try coder.field("SPSM", &spsm)
        try coder.field("MTU", &mtu)
        try coder.field("MPS", &mps)
        try coder.field("Initial Credits", &credits)
        try sources.code(&coder)
    }
}

/// L2CAP Credit Based Connection Response, for enhanced channels (Core Vol 3 Part A 4.26).
package struct EnhancedConnectionResponse: SignallingCommand {
    package static let code = SignallingCode.enhancedConnectionResponse
    /// The longest SDU that the sender accepts, in octets.
    package var mtu: UInt16 = 0
    /// The longest frame payload that the sender accepts, in octets.
    package var mps: UInt16 = 0
    /// The initial credits of each channel: the number of frames that may be sent to the sender.
    package var credits: UInt16 = 0
    /// Whether all channels were opened, or why not.
    package var result = ChannelResult.success
    /// The channels at the sender of the response, in the order of the request; 0 for a refused one. A list that is too
    /// short refuses the rest (AB-C05).
    package var destinations = ChannelList()

    package init() {}

    /// Creates a refusal of `count` channels.
    package init(refused result: ChannelResult, count: Int) {
        self.result = result
        destinations.channels = Array(repeating: .null, count: min(count, ChannelList.maximumChannels))
    }

    package mutating func code<C: FieldCoder>(_ coder: inout C) throws(PacketError) {
        try coder.field("MTU", &mtu)
        try coder.field("MPS", &mps)
        try coder.field("Initial Credits", &credits)
        try coder.field("Result", &result)
        guard !coder.isReading || coder.remaining > 0 else { return }
        try destinations.code(&coder)
    }
}

/// The list of channels at the end of an enhanced command, one to five (AB-C03, AB-C04).
package struct ChannelList: PacketFields, Hashable, Sendable {
    /// The maximum number of channels in one command.
    package static let maximumChannels = 5

    package var channels: [ChannelIdentifier] = []

    /// Creates an empty list.
    package init() {}

    package init(_ channels: [ChannelIdentifier]) { self.channels = channels }

    /// Whether a channel occurs twice or is zero, neither of which is allowed.
    var contradictsItself: Bool { Set(channels).count < channels.count || channels.contains(.null) }

    package mutating func code<C: FieldCoder>(_ coder: inout C) throws(PacketError) {
        if coder.isReading {
            let octets = coder.remaining
            guard octets % 2 == 0, (1...Self.maximumChannels).contains(octets / 2) else {
                throw PacketError(.length(octets), at: "CID list")
            }
            channels = Array(repeating: .null, count: octets / 2)
        }
        for index in channels.indices { try coder.field("CID", &channels[index]) }
    }
}
