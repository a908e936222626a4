import BluetoothTypes
import HCI

// Conversion of received advertisements to LE Extended Advertising Reports (Core Vol 4 Part E 7.7.65.13).

extension ExtendedAdvertisingReport {
    /// The maximum length of the data in one report, in octets.
    static let maximumData = 229
    /// The SID that stands for no ADI.
    static let noSet: UInt8 = 0xFF
    /// The value that stands for an unknown transmit power.
    static let noPower: Int8 = 127

    /// Creates the report of a legacy PDU.
    init(
        legacy kind: LEExtendedReportKind,
        _ address: BluetoothAddress,
        target: BluetoothAddress?,
        data: PacketBuffer,
        rssi: Int8
    ) {
        self.init {
            $0.kind = kind
            $0.address = address
            $0.primaryPHY = .le1M
            $0.secondaryPHY = .none
            $0.sid = Self.noSet
            $0.txPower = Self.noPower
            $0.rssi = rssi
            $0.periodicInterval = 0
            $0.directAddress = target ?? .none
            $0.data = data
        }
    }

    /// Creates the report of an ADV_EXT_IND without auxiliary PDUs; nil if it requires them, or has no advertiser
    /// address.
    init?(_ pdu: ExtendedAdvertisement, _ frame: ReceivedFrame, primaryPHY: LEPHY) {
        guard pdu.mode == .nonConnectable, pdu.extended.pointer == nil, let advertiser = pdu.extended.advertiser else {
            return nil
        }
        self.init {
            $0.kind = pdu.extended.target == nil ? [] : .directed
            $0.address = advertiser
            $0.primaryPHY = primaryPHY
            $0.secondaryPHY = .none
            $0.sid = pdu.extended.info?.set ?? Self.noSet
            $0.txPower = pdu.extended.txPower ?? Self.noPower
            $0.rssi = frame.rssi
            $0.periodicInterval = 0
            $0.directAddress = pdu.extended.target ?? .none
            $0.data = pdu.data
        }
    }

    /// Creates the report of an advertisement, or of the scan response to it, as far as it was received.
    init(_ trail: AuxiliaryTrail, _ status: LEExtendedReportKind.DataStatus) {
        var kind: LEExtendedReportKind = []
        if trail.mode == .connectable { kind.insert(.connectable) }
        if trail.mode == .scannable { kind.insert(.scannable) }
        if trail.target != nil { kind.insert(.directed) }
        if trail.isResponse { kind.insert(.scanResponse) }
        kind.dataStatus = status
        self.init {
            $0.kind = kind
            $0.address = trail.advertiser ?? .anonymous
            $0.primaryPHY = trail.primaryPHY
            $0.secondaryPHY = trail.secondaryPHY
            $0.sid = trail.info?.set ?? Self.noSet
            $0.txPower = trail.txPower ?? Self.noPower
            $0.rssi = trail.rssi
            $0.periodicInterval = trail.periodicInterval
            $0.directAddress = trail.target ?? .none
            $0.data = trail.data
        }
    }

    /// The report as fragments that fit into an event. All but the last indicate that more follow.
    var pieces: [ExtendedAdvertisingReport] {
        var pieces: [ExtendedAdvertisingReport] = []
        var rest = data
        repeat {
            var piece = self
            piece.data = rest.prefix(upTo: Self.maximumData)
            rest = rest.suffix(after: Self.maximumData)
            if !rest.isEmpty { piece.kind.dataStatus = .moreToCome }
            pieces.append(piece)
        } while !rest.isEmpty
        return pieces
    }
}

extension LEExtendedReportKind {
    /// Creates the properties of a legacy PDU. Those of a scan response include the properties of the advertisement
    /// that it answers.
    init(legacy kind: LEAdvertisingReportKind, of advertisement: LEAdvertisingReportKind) {
        switch kind {
        case .connectableScannable: self = [.legacy, .connectable, .scannable]
        case .directed: self = [.legacy, .connectable, .directed]
        case .scannable: self = [.legacy, .scannable]
        case .scanResponse:
            self = [.legacy, .scannable, .scanResponse]
            if advertisement == .connectableScannable { insert(.connectable) }
        default: self = .legacy
        }
    }
}
