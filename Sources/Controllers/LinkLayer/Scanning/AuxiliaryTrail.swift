import BluetoothTypes
import EventLoops
import HCI

/// An extended advertisement that has been received in part (Core Vol 6 Part B 4.4.3.5): the location of its next PDU,
/// and the content of the previous ones.
struct AuxiliaryTrail {
    /// The maximum number of PDUs to follow after ADV_EXT_IND: more than the maximum of advertising data requires.
    static let maximumPDUs = 32

    /// The primary PHY on which the advertisement started.
    let primaryPHY: LEPHY
    let mode: ExtendedAdvertisement.Mode
    /// When the PDU with ``pointer`` started.
    private(set) var origin: Instant
    /// The location of the next PDU.
    private(set) var pointer: AuxiliaryPointer
    private(set) var advertiser: BluetoothAddress?
    private(set) var target: BluetoothAddress?
    private(set) var info: AdvertisingDataInfo?
    private(set) var txPower: Int8?
    /// The periodic advertising interval, in units of 1.25 ms; 0 for none.
    private(set) var periodicInterval: UInt16 = 0
    private(set) var data: PacketBuffer = []
    private(set) var secondaryPHY: LEPHY
    /// The strength of the last received PDU, in dBm.
    private(set) var rssi: Int8
    /// Whether the data are those of a scan response.
    private(set) var isResponse = false
    /// The number of PDUs received on the secondary channels.
    private(set) var count = 0

    /// Starts with an ADV_EXT_IND; nil if it has no pointer that can be followed.
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
        _ = merge(pdu.extended)
    }

    /// Whether the next PDU is AUX_ADV_IND.
    var leadsToAdvertisement: Bool { count == 0 && !isResponse }

    /// Adds the next PDU. Returns false if it does not belong to the advertisement.
    mutating func append(_ pdu: ExtendedAdvertisement, _ frame: ReceivedFrame) -> Bool {
        guard pdu.mode == (leadsToAdvertisement ? mode : .nonConnectable), merge(pdu.extended) else { return false }
        count += 1
        rssi = frame.rssi
        let room = ExtendedAdvertisement.maximumData - data.count
        data.append(contentsOf: pdu.data.prefix(upTo: room))
        return pdu.data.count <= room
    }

    /// Whether another PDU follows.
    enum Next {
        case none
        /// Another PDU follows; the trail now leads to it.
        case pointed
        /// Another PDU follows, but its pointer cannot be followed.
        case lost
    }

    /// Moves on to the PDU to which the last added one points.
    mutating func follow(_ pdu: ExtendedAdvertisement, _ frame: ReceivedFrame) -> Next {
        // Only advertisements that are neither connectable nor scannable, and scan responses, are chained (2.3.1.6).
        guard mode == .nonConnectable || isResponse, let pointer = pdu.extended.pointer, pointer.offset > 0 else {
            return .none
        }
        guard let phy = pointer.phy, pointer.isUsable(behind: frame.frame.airTimeMicroseconds),
            count < Self.maximumPDUs
        else { return .lost }
        (self.pointer, origin, secondaryPHY) = (pointer, frame.start, phy)
        return .pointed
    }

    /// Returns the trail for the scan response to this advertisement.
    func response() -> AuxiliaryTrail {
        var trail = self
        trail.isResponse = true
        trail.data = []
        return trail
    }

    private mutating func merge(_ header: ExtendedHeader) -> Bool {
        if let known = advertiser, let new = header.advertiser, known != new { return false }
        if let known = info, let new = header.info, known != new { return false }
        advertiser = header.advertiser ?? advertiser
        target = header.target ?? target
        info = header.info ?? info
        txPower = header.txPower ?? txPower
        periodicInterval = header.sync?.interval ?? periodicInterval
        return true
    }

    /// Returns when to listen for the next PDU, allowing for the inaccuracy of both clocks.
    func window(_ own: ClockAccuracy) -> (start: Instant, end: Instant) {
        let advertiser = ClockAccuracy(code: pointer.isPrecise ? 5 : 0)
        let widening = ClockAccuracy.widening(own, advertiser, since: .microseconds(pointer.offset))
        let start = origin + .microseconds(pointer.offset - widening)
        return (start, origin + .microseconds(pointer.offset + pointer.unit + widening))
    }

    /// Whether this trail leads to the same PDU as another one. Several ADV_EXT_IND of one event do.
    func overlaps(_ other: AuxiliaryTrail) -> Bool {
        let distance = origin + .microseconds(pointer.offset) - (other.origin + .microseconds(other.pointer.offset))
        return pointer.channel == other.pointer.channel && abs(distance.microseconds) <= pointer.unit
    }
}
