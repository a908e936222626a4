import BluetoothTypes

// The wire format of channel messages.

extension ChannelID: WireValue {
    /// Creates the identifier with this number.
    public init(rawValue: UInt32) { self.init(rawValue) }
}

extension ChannelRequest: MessageKinds {
    /// See ``MessageKinds/kinds``.
    public static let kinds: [ChannelRequest] = [
        .grant(0),
        .send([]),
        .close,
    ]

    /// Codes the kind and its fields.
    public mutating func codeKind<C: FieldCoder>(_ coder: inout C) throws(PacketError) {
        switch self {
        case .grant(let count):
            try coder.kind(0, "grant")
            self = .grant(try coder.number("count", count))
        case .send(let octets):
            try coder.kind(1, "send")
            self = .send(try coder.octets("octets", octets))
        case .close: try coder.kind(2, "close")
        }
    }
}

extension ChannelEvent: MessageKinds {
    /// See ``MessageKinds/kinds``.
    public static let kinds: [ChannelEvent] = [
        .received([]),
        .room(0),
        .ended(nil),
    ]

    /// Codes the kind and its fields.
    public mutating func codeKind<C: FieldCoder>(_ coder: inout C) throws(PacketError) {
        switch self {
        case .received(let octets):
            try coder.kind(0, "received")
            self = .received(try coder.octets("octets", octets))
        case .room(let count):
            try coder.kind(1, "room")
            self = .room(try coder.number("count", count))
        case .ended(let error):
            try coder.kind(2, "ended")
            self = .ended(try coder.optional("error", error))
        }
    }
}
