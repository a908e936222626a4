import BluetoothTypes
import EventLoops
import HCI
import Radio

/// AuxPtr: where and when the next PDU of an extended advertisement is sent (Core Vol 6 Part B 2.3.4.5).
struct AuxiliaryPointer: PacketFields, Hashable {
    /// The unit of short offsets, in microseconds.
    static let shortUnit: Int64 = 30
    /// The unit of long offsets, in microseconds.
    static let longUnit: Int64 = 300
    /// From this offset on the long unit is used, in microseconds.
    static let longOffset: Int64 = 245_700
    /// T_MAFS: from the end of a PDU with a pointer to the beginning of that which it points to, in microseconds (4.1.2).
    static let minimumSpace: Int64 = 300

    private var channelAndUnit: UInt8 = 0
    private var offsetAndPHY: UInt16 = 0

    init() {}

    /// A pointer to a PDU that begins `offset` microseconds after the one that holds the pointer. Offsets that are no
    /// multiple of the unit are rounded down: the PDU comes within one unit after that.
    init(channel: UInt8, offset: Int64, phy: LEPHY, isPrecise: Bool) {
        let isLong = offset >= Self.longOffset
        let units = min(max(offset, 0) / (isLong ? Self.longUnit : Self.shortUnit), 0x1FFF)
        channelAndUnit = channel & 0x3F | (isPrecise ? 0x40 : 0) | (isLong ? 0x80 : 0)
        offsetAndPHY = UInt16(truncatingIfNeeded: units) | UInt16(phy.auxiliaryCode) << 13
    }

    /// The secondary advertising channel; more than 36 is reserved.
    var channel: UInt8 { channelAndUnit & 0x3F }
    /// Whether the advertiser's clock is good for 50 parts in a million, and not only for 500.
    var isPrecise: Bool { channelAndUnit & 0x40 != 0 }
    /// The unit of the offset, in microseconds.
    var unit: Int64 { channelAndUnit & 0x80 != 0 ? Self.longUnit : Self.shortUnit }
    /// From the beginning of the PDU that holds the pointer to that of the next one at the earliest, in microseconds. 0
    /// when nothing is sent.
    var offset: Int64 { Int64(offsetAndPHY & 0x1FFF) * unit }

    /// The PHY of the next PDU; nil for a reserved number.
    var phy: LEPHY? {
        switch offsetAndPHY >> 13 {
        case 0: .le1M
        case 1: .le2M
        case 2: .coded
        default: nil
        }
    }

    /// Whether a receiver can follow it: behind a PDU of so many microseconds, to a channel and a PHY that there are.
    func isUsable(behind airTime: Int64) -> Bool {
        channel < ChannelMap.channels && phy != nil && offset + unit >= airTime + Self.minimumSpace
    }

    mutating func code<C: FieldCoder>(_ coder: inout C) throws(PacketError) {
        try coder.field("Channel, CA and Offset Units", &channelAndUnit)
        try coder.field("AUX Offset and PHY", &offsetAndPHY)
    }
}

/// ADI: names an advertising set, and what it says at present (2.3.4.4).
struct AdvertisingDataInfo: PacketFields, Hashable {
    private var bits: UInt16 = 0

    init() {}

    init(set: UInt8, data: UInt16) {
        bits = data & 0x0FFF | UInt16(set & 0x0F) << 12
    }

    /// SID, 0 to 15: which of the device's sets.
    var set: UInt8 { UInt8(bits >> 12) }
    /// DID, 12 bits: another one for other data.
    var data: UInt16 { bits & 0x0FFF }

    mutating func code<C: FieldCoder>(_ coder: inout C) throws(PacketError) {
        try coder.field("DID and SID", &bits)
    }
}

extension LEPHY {
    /// The number of a PHY in an AuxPtr.
    fileprivate var auxiliaryCode: UInt8 {
        switch self {
        case .le2M: 1
        case .coded: 2
        default: 0
        }
    }

    /// What extended advertising is sent with; the coded PHY always with S=8.
    var radioPHY: RadioPHY {
        switch self {
        case .le2M: .le2M
        case .coded: .codedS8
        default: .le1M
        }
    }
}

extension ReceivedFrame {
    /// What it was sent with. The window that is open by now may be one of another PHY: what was coming in when it opened was
    /// heard to its end.
    var advertisingPHY: LEPHY {
        switch frame.phy {
        case .le1M: .le1M
        case .le2M: .le2M
        case .codedS2, .codedS8: .coded
        }
    }
}
