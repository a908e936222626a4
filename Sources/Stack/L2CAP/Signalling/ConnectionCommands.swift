import BluetoothTypes

/// LE Credit Based Connection Request (Core Vol 3 Part A 4.22).
package struct CreditBasedConnectionRequest: SignallingCommand {
    package static let code = SignallingCode.creditBasedConnectionRequest
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

    /// Creates a refusal, in which only the result is significant.
    package init(refused result: ChannelResult) { self.result = result }

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
    package static let maximumChannels = 5

    package var channels: [ChannelIdentifier] = []

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
