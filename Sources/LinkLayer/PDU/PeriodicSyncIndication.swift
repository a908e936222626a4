import BluetoothTypes
import HCI

/// LL_PERIODIC_SYNC_IND (Core Vol 6 Part B 2.4.2.27), and LL_PERIODIC_SYNC_WR_IND (2.4.2.41) for a train with responses: tells a
/// peer where a train is, by the events of the link.
struct PeriodicSyncIndication: PacketFields, Hashable {
    /// ID: a number for the peer's host.
    var serviceData: UInt16 = 0
    /// The train. The offset counts from the anchor point of the event with ``reference``.
    var sync = SyncInfo()
    /// connEventCount.
    var reference: UInt16 = 0
    /// lastPaEventCounter: an AUX_SYNC_IND that the sender has heard or sent lately.
    var lastCounter: UInt16 = 0
    private var bits: UInt8 = 0
    private var phys: UInt8 = 0
    private var advertiserValue: UInt64 = 0
    /// syncConnEventCount: the event by which the sender has reckoned.
    var syncCounter: UInt16 = 0
    /// How the events of the train are divided; nil for a train without responses.
    var responses: ResponseTiming?

    init() {}

    /// SID.
    var sid: UInt8 {
        get { bits & 0x0F }
        set { bits = bits & 0xF0 | newValue & 0x0F }
    }

    /// How good the sender's sleep clock is.
    var accuracy: ClockAccuracy {
        get { ClockAccuracy(code: bits >> 5) }
        set { bits = bits & 0x1F | (newValue.code & 0b111) << 5 }
    }

    /// AdvA.
    var advertiser: BluetoothAddress {
        get { BluetoothAddress(advertiserValue, kind: .init(isRandom: bits & 0x10 != 0)) }
        set {
            advertiserValue = newValue.value
            bits = bits & 0xEF | (newValue.kind.isRandom ? 0x10 : 0)
        }
    }

    /// PHY: a bit for one.
    var phy: LEPHYs {
        get { LEPHYs(rawValue: phys) }
        set { phys = newValue.rawValue }
    }

    mutating func code<C: FieldCoder>(_ coder: inout C) throws(PacketError) {
        try coder.field("ID", &serviceData)
        try coder.field("SyncInfo", &sync)
        try coder.field("connEventCount", &reference)
        try coder.field("lastPaEventCounter", &lastCounter)
        try coder.field("SID, AType and SCA", &bits)
        try coder.field("PHY", &phys)
        try coder.uint48("AdvA", &advertiserValue)
        try coder.field("syncConnEventCount", &syncCounter)
        guard coder.isReading ? coder.remaining > 0 : responses != nil else { return }
        var present = responses ?? ResponseTiming()
        try present.code(&coder)
        responses = present
    }
}
