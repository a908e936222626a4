import BluetoothTypes

// The wire format of channel messages.

extension ChannelID: WireValue {
    /// Creates the identifier with this number.
    public init(rawValue: UInt32) { self.init(rawValue) }
}

extension ChannelRequest: MessageKinds {
    /// See ``MessageKinds/kinds``.
    public static var kinds: [ChannelRequest] {
        [
            .grant(0),
            .send([]),
            .close,
        ]
    }

    /// See ``MessageKinds/kind``.
    public var kind: MessageKind {
        switch self {
        case .grant: MessageKind(0, "grant")
        case .send: MessageKind(1, "send")
        case .close: MessageKind(2, "close")
        }
    }

    /// Codes the fields of this kind.
    public mutating func codeFields<C: FieldCoder>(_ coder: inout C) throws(PacketError) {
        switch self {
        case .grant(var count):
            try coder.number("count", &count)
            self = .grant(count)
        case .send(var octets):
            try coder.octets("octets", &octets)
            self = .send(octets)
        case .close: break
        }
    }
}

extension ChannelEvent: MessageKinds {
    /// See ``MessageKinds/kinds``.
    public static var kinds: [ChannelEvent] {
        [
            .received([]),
            .room(0),
            .ended(nil),
        ]
    }

    /// See ``MessageKinds/kind``.
    public var kind: MessageKind {
        switch self {
        case .received: MessageKind(0, "received")
        case .room: MessageKind(1, "room")
        case .ended: MessageKind(2, "ended")
        }
    }

    /// Codes the fields of this kind.
    public mutating func codeFields<C: FieldCoder>(_ coder: inout C) throws(PacketError) {
        switch self {
        case .received(var octets):
            try coder.octets("octets", &octets)
            self = .received(octets)
        case .room(var count):
            try coder.number("count", &count)
            self = .room(count)
        case .ended(var error):
            try coder.optional("error", &error)
            self = .ended(error)
        }
    }
}
