import BluetoothTypes
import EventLoops

/// SyncInfo: the location of a set's periodic advertising (Core Vol 6 Part B 2.3.4.6).
struct SyncInfo: PacketFields, Hashable {
    /// The unit of short offsets, in microseconds.
    static let shortUnit: Int64 = 30
    /// The unit of long offsets, in microseconds.
    static let longUnit: Int64 = 300
    /// The offset from which the long unit is used, in microseconds.
    static let longOffset: Int64 = 245_700
    /// The amount that Offset Adjust adds, in microseconds.
    static let adjustment: Int64 = 2_457_600
    /// The unit of intervals, in microseconds.
    static let intervalUnit: Int64 = 1_250

    private var offsetBits: UInt16 = 0
    private var mapAndAccuracy: UInt64 = 0
    /// The periodic advertising interval, in units of 1.25 ms; at least 6.
    var interval: UInt16 = 0
    /// The access address of the train.
    var accessAddress: UInt32 = 0
    /// The initial value of the train's CRC.
    var crcInit: UInt32 = 0
    /// paEventCounter of the AUX_SYNC_IND to which the offset leads.
    var counter: UInt16 = 0

    /// The earliest start of the AUX_SYNC_IND after the reference point, in microseconds; 0 if it is too far away to
    /// express. The PDU starts within one ``unit`` after that.
    var offset: Int64 {
        get {
            let base = Int64(offsetBits & 0x1FFF) * unit
            return base == 0 ? 0 : base + (offsetBits & 0x4000 != 0 ? Self.adjustment : 0)
        }
        set { offsetBits = Self.bits(for: newValue) }
    }

    /// The unit of the offset, in microseconds.
    var unit: Int64 { offsetBits & 0x2000 != 0 ? Self.longUnit : Self.shortUnit }

    /// The channel map of the train.
    var map: ChannelMap {
        get { ChannelMap(bits: mapAndAccuracy) }
        set { mapAndAccuracy = mapAndAccuracy & ~0x1F_FFFF_FFFF | newValue.bits }
    }

    /// The accuracy of the advertiser's sleep clock.
    var accuracy: ClockAccuracy {
        get { ClockAccuracy(code: UInt8(truncatingIfNeeded: mapAndAccuracy >> 37) & 0b111) }
        set { mapAndAccuracy = mapAndAccuracy & 0x1F_FFFF_FFFF | UInt64(newValue.code & 0b111) << 37 }
    }

    var period: Duration { .microseconds(Int64(interval) * Self.intervalUnit) }

    /// Whether the fields are valid, so that the train can be followed.
    var isUsable: Bool { interval >= 6 && map.isUsable && offset > 0 }

    private static func bits(for offset: Int64) -> UInt16 {
        guard offset > 0 else { return 0 }
        if offset < longOffset { return UInt16(offset / shortUnit) }
        if offset < adjustment { return UInt16(offset / longUnit) | 0x2000 }
        let rest = (offset - adjustment) / longUnit
        return (1...0x1FFF).contains(rest) ? UInt16(rest) | 0x6000 : 0
    }

    mutating func code<C: FieldCoder>(_ coder: inout C) throws(PacketError) {
        var octets = PacketBuffer((0..<5).map { UInt8(truncatingIfNeeded: mapAndAccuracy >> (8 * $0)) })
        try coder.field("Offset Base, Units and Adjust", &offsetBits)
        try coder.field("Interval", &interval)
        try coder.bytes("ChM and SCA", &octets, count: 5)
        mapAndAccuracy = octets.reversed().reduce(0) { $0 << 8 | UInt64($1) }
        try coder.field("AA", &accessAddress)
        try coder.uint24("CRCInit", &crcInit)
        try coder.field("paEventCounter", &counter)
    }
}
