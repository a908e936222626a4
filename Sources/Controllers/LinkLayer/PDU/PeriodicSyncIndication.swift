import BluetoothTypes
import HCI

/// LL_PERIODIC_SYNC_IND (Core Vol 6 Part B 2.4.2.27), and LL_PERIODIC_SYNC_WR_IND (2.4.2.41) for a train with
/// responses. It describes the location of a periodic advertising train relative to the events of the link.
struct PeriodicSyncIndication: PacketFields, Hashable {
    /// ID: a value for the peer's host.
    var serviceData: UInt16 = 0
    /// SyncInfo of the train. The offset is relative to the anchor point of the connection event ``reference``.
    var sync = SyncInfo()
    /// connEventCount: the connection event to which the offset of ``sync`` is relative.
    var reference: UInt16 = 0
    /// lastPaEventCounter: an AUX_SYNC_IND that the sender has recently received or sent.
    var lastCounter: UInt16 = 0
    private var bits: UInt8 = 0
    private var phys: UInt8 = 0
    private var advertiserValue: UInt64 = 0
    /// syncConnEventCount: the connection event on which the sender has based the calculation.
    var syncCounter: UInt16 = 0
    /// The subevents and response slots of the train; nil for a train without responses.
    var responses: ResponseTiming?

    /// SID of the train, from 0 to 15.
    var sid: UInt8 {
        get { bits & 0x0F }
        set { bits = bits & 0xF0 | newValue & 0x0F }
    }

    /// SCA: the accuracy of the sender's sleep clock.
    var accuracy: ClockAccuracy {
        get { ClockAccuracy(code: bits >> 5) }
        set { bits = bits & 0x1F | (newValue.code & 0b111) << 5 }
    }

    /// AdvA: the address of the train's advertiser.
    var advertiser: BluetoothAddress {
        get { BluetoothAddress(advertiserValue, kind: .init(isRandom: bits & 0x10 != 0)) }
        set {
            advertiserValue = newValue.value
            bits = bits & 0xEF | (newValue.kind.isRandom ? 0x10 : 0)
        }
    }

    /// PHY: one bit for each PHY.
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
