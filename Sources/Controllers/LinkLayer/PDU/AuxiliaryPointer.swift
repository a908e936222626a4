import BluetoothTypes
import EventLoops
import HCI

/// AuxPtr: the channel, PHY and time of the next PDU of an extended advertisement (Core Vol 6 Part B 2.3.4.5).
struct AuxiliaryPointer: PacketFields, Hashable {
    /// The unit of short offsets, in microseconds.
    static let shortUnit: Int64 = 30
    /// The unit of long offsets, in microseconds.
    static let longUnit: Int64 = 300
    /// The offset from which the long unit is used, in microseconds.
    static let longOffset: Int64 = 245_700
    /// T_MAFS: the minimum time from the end of a PDU with a pointer to the start of the PDU it points to, in
    /// microseconds (4.1.2).
    static let minimumSpace: Int64 = 300

    private var channelAndUnit: UInt8 = 0
    private var offsetAndPHY: UInt16 = 0

    init() {}

    /// Creates a pointer to a PDU that starts `offset` microseconds after the one with the pointer. The offset is
    /// rounded down to whole units; the PDU starts within one unit after that.
    init(channel: UInt8, offset: Int64, phy: LEPHY, isPrecise: Bool) {
        let isLong = offset >= Self.longOffset
        let units = min(max(offset, 0) / (isLong ? Self.longUnit : Self.shortUnit), 0x1FFF)
        channelAndUnit = channel & 0x3F | (isPrecise ? 0x40 : 0) | (isLong ? 0x80 : 0)
        offsetAndPHY = UInt16(truncatingIfNeeded: units) | UInt16(phy.auxiliaryCode) << 13
    }

    /// The secondary advertising channel; values above 36 are reserved.
    var channel: UInt8 { channelAndUnit & 0x3F }
    /// Whether the advertiser's clock is accurate to 50 ppm rather than 500 ppm.
    var isPrecise: Bool { channelAndUnit & 0x40 != 0 }
    /// The unit of the offset, in microseconds.
    var unit: Int64 { channelAndUnit & 0x80 != 0 ? Self.longUnit : Self.shortUnit }
    /// The earliest start of the next PDU after the start of the PDU with the pointer, in microseconds; 0 if there is
    /// no next PDU.
    var offset: Int64 { Int64(offsetAndPHY & 0x1FFF) * unit }

    /// The PHY of the next PDU; nil for a reserved value.
    var phy: LEPHY? {
        switch offsetAndPHY >> 13 {
        case 0: .le1M
        case 1: .le2M
        case 2: .coded
        default: nil
        }
    }

    /// Whether a receiver can follow the pointer: the next PDU starts late enough after this one, which lasts `airTime`
    /// microseconds, on a valid channel and PHY.
    func isUsable(behind airTime: Int64) -> Bool {
        channel < ChannelMap.channels && phy != nil && offset + unit >= airTime + Self.minimumSpace
    }

    mutating func code<C: FieldCoder>(_ coder: inout C) throws(PacketError) {
        try coder.field("Channel, CA and Offset Units", &channelAndUnit)
        try coder.field("AUX Offset and PHY", &offsetAndPHY)
    }
}

/// ADI: identifies an advertising set and its current data (2.3.4.4).
struct AdvertisingDataInfo: PacketFields, Hashable {
    private var bits: UInt16 = 0

    init() {}

    init(set: UInt8, data: UInt16) {
        bits = data & 0x0FFF | UInt16(set & 0x0F) << 12
    }

    /// SID: the advertising set, 0 to 15.
    var set: UInt8 { UInt8(bits >> 12) }
    /// DID: the identifier of the data, 12 bits. It changes whenever the data change.
    var data: UInt16 { bits & 0x0FFF }

    mutating func code<C: FieldCoder>(_ coder: inout C) throws(PacketError) {
        try coder.field("DID and SID", &bits)
    }
}

extension LEPHY {
    /// The code of the PHY in an AuxPtr.
    fileprivate var auxiliaryCode: UInt8 {
        switch self {
        case .le2M: 1
        case .coded: 2
        default: 0
        }
    }

    /// The PHY on which extended advertising is sent. LE Coded always uses S=8.
    var radioPHY: RadioPHY { radioPHY(coding: .codedS8) }

    /// Returns the PHY of the simulated radio, with this coding scheme for Coded.
    func radioPHY(coding: RadioPHY) -> RadioPHY {
        switch self {
        case .le2M: .le2M
        case .coded: coding
        default: .le1M
        }
    }
}

extension ReceivedFrame {
    /// The PHY on which the frame was sent. The current scan window may be for another PHY, since a frame in progress
    /// when a window opens is received to its end.
    var advertisingPHY: LEPHY {
        switch frame.phy {
        case .le1M: .le1M
        case .le2M: .le2M
        case .codedS2, .codedS8: .coded
        }
    }
}
