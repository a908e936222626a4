import BluetoothTypes

/// The channel map of a connection: the subset of the 37 data channels that it uses (Core Vol 6 Part B 1.4.1).
struct ChannelMap: PacketFields, Hashable {
    /// The number of data channels, 0 to 36.
    static let channels: UInt8 = 37
    /// The minimum number of channels in a map (4.5.8.1).
    static let minimumUsed = 2

    /// One bit for each channel, channel 0 in the lowest.
    private(set) var bits: UInt64 = 0
    /// The used channels in ascending order: the remapping table (4.5.8.2.2).
    private(set) var used: [UInt8] = []

    static let all = ChannelMap(bits: 0x1F_FFFF_FFFF)

    init() {}

    /// Creates a map from its 37 low bits.
    init(bits: UInt64) {
        self.bits = bits & 0x1F_FFFF_FFFF
        used = (0..<Self.channels).filter { self.bits >> UInt64($0) & 1 == 1 }
    }

    /// Parses a map from five octets; nil if the length is wrong or reserved bits are set.
    init?(octets: PacketBuffer) {
        guard octets.count == 5 else { return nil }
        let bits = octets.reversed().reduce(0) { $0 << 8 | UInt64($1) }
        guard bits >> UInt64(Self.channels) == 0 else { return nil }
        self.init(bits: bits)
    }

    func contains(_ channel: UInt8) -> Bool {
        channel < Self.channels && bits >> UInt64(channel) & 1 == 1
    }

    /// Whether the map has enough channels for a connection.
    var isUsable: Bool { used.count >= Self.minimumUsed }

    /// The map as five octets, channel 0 in the lowest bit of the first.
    var octets: PacketBuffer {
        PacketBuffer((0..<5).map { UInt8(truncatingIfNeeded: bits >> (8 * $0)) })
    }

    mutating func code<C: FieldCoder>(_ coder: inout C) throws(PacketError) {
        var low = UInt32(truncatingIfNeeded: bits)
        var high = UInt8(truncatingIfNeeded: bits >> 32)
        try coder.field("Channels 0 to 31", &low)
        try coder.field("Channels 32 to 36", &high)
        if coder.isReading { self = ChannelMap(bits: UInt64(high) << 32 | UInt64(low)) }
    }
}
