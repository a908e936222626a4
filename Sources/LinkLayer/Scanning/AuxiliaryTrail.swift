import BluetoothTypes
import EventLoops
import HCI
import Radio

/// What is known of an extended advertisement of which not all PDUs have been heard (Core Vol 6 Part B 4.4.3.5): where
/// the next one is, and what the others said.
struct AuxiliaryTrail {
    /// PDUs behind ADV_EXT_IND that are followed at most: more than the data that an advertisement may have need.
    static let maximumPDUs = 32

    /// Where the advertisement began.
    let primaryPHY: LEPHY
    let mode: ExtendedAdvertisement.Mode
    /// When the PDU with ``pointer`` began.
    private(set) var origin: Instant
    /// Where the next PDU is.
    private(set) var pointer: AuxiliaryPointer
    private(set) var advertiser: BluetoothAddress?
    private(set) var target: BluetoothAddress?
    private(set) var info: AdvertisingDataInfo?
    private(set) var txPower: Int8?
    /// The interval of periodic advertising, in units of 1.25 ms; 0 for none.
    private(set) var periodicInterval: UInt16 = 0
    private(set) var data: PacketBuffer = []
    private(set) var secondaryPHY: LEPHY
    /// The strength of the PDU that was heard last, in dBm.
    private(set) var rssi: Int8
    /// Whether the data are those of a scan response.
    private(set) var isResponse = false
    /// PDUs on the secondary channels so far.
    private(set) var count = 0

    /// Begins with ADV_EXT_IND; nil when it points nowhere.
    init?(_ pdu: ExtendedAdvertisement, _ frame: ReceivedFrame, primaryPHY: LEPHY) {
        guard let pointer = pdu.extended.pointer, let phy = pointer.phy,
            pointer.isUsable(behind: frame.frame.airTimeMicroseconds), pdu.mode != .reserved
        else { return nil }
        self.primaryPHY = primaryPHY
        mode = pdu.mode
        origin = frame.start
        self.pointer = pointer
        secondaryPHY = phy
        rssi = frame.rssi
        _ = take(pdu.extended)
    }

    /// Whether the PDU that is pointed to at present is AUX_ADV_IND.
    var leadsToAdvertisement: Bool { count == 0 && !isResponse }

    /// Takes the next PDU. False when it does not belong to the others.
    mutating func take(_ pdu: ExtendedAdvertisement, _ frame: ReceivedFrame) -> Bool {
        guard pdu.mode == (leadsToAdvertisement ? mode : .nonConnectable), take(pdu.extended) else { return false }
        count += 1
        rssi = frame.rssi
        let room = ExtendedAdvertisement.maximumData - data.count
        data.append(contentsOf: pdu.data.prefix(upTo: room))
        return pdu.data.count <= room
    }

    /// Whether a PDU that has been taken says that there is another one, and where.
    enum Next {
        case none
        /// Followed now.
        case pointed
        /// It cannot be followed.
        case lost
    }

    /// Goes on to what a PDU that has been taken points to.
    mutating func follow(_ pdu: ExtendedAdvertisement, _ frame: ReceivedFrame) -> Next {
        // Only advertisements for nobody in particular, and scan responses, go on behind their first PDU (2.3.1.6).
        guard mode == .nonConnectable || isResponse, let pointer = pdu.extended.pointer, pointer.offset > 0 else {
            return .none
        }
        guard let phy = pointer.phy, pointer.isUsable(behind: frame.frame.airTimeMicroseconds),
            count < Self.maximumPDUs
        else { return .lost }
        (self.pointer, origin, secondaryPHY) = (pointer, frame.start, phy)
        return .pointed
    }

    /// The same advertisement, for its scan response.
    func response() -> AuxiliaryTrail {
        var trail = self
        trail.isResponse = true
        trail.data = []
        return trail
    }

    private mutating func take(_ header: ExtendedHeader) -> Bool {
        if let known = advertiser, let new = header.advertiser, known != new { return false }
        if let known = info, let new = header.info, known != new { return false }
        advertiser = header.advertiser ?? advertiser
        target = header.target ?? target
        info = header.info ?? info
        txPower = header.txPower ?? txPower
        periodicInterval = header.sync?.interval ?? periodicInterval
        return true
    }

    /// When to listen for the next PDU, with what the clocks of both may be off.
    func window(_ own: ClockAccuracy) -> (start: Instant, end: Instant) {
        let advertiser = ClockAccuracy(code: pointer.isPrecise ? 5 : 0)
        let widening = ClockAccuracy.widening(own, advertiser, since: .microseconds(pointer.offset))
        let start = origin + .microseconds(pointer.offset - widening)
        return (start, origin + .microseconds(pointer.offset + pointer.unit + widening))
    }

    /// Whether this leads to the same PDU as another one: several ADV_EXT_IND of one event do.
    func meets(_ other: AuxiliaryTrail) -> Bool {
        let distance = origin + .microseconds(pointer.offset) - (other.origin + .microseconds(other.pointer.offset))
        return pointer.channel == other.pointer.channel && abs(distance.microseconds) <= pointer.unit
    }
}
