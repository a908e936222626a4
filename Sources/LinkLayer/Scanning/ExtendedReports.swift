import BluetoothTypes
import HCI
import Radio

// How what was heard becomes LE Extended Advertising Reports (Core Vol 4 Part E 7.7.65.13).

extension ExtendedAdvertisingReport {
    /// Octets of data in one report at most.
    static let maximumData = 229
    /// There is no ADI.
    static let noSet: UInt8 = 0xFF
    /// The power is not known.
    static let noPower: Int8 = 127

    /// A legacy PDU.
    init(
        legacy kind: LEExtendedReportKind,
        _ address: BluetoothAddress,
        target: BluetoothAddress?,
        data: PacketBuffer,
        rssi: Int8
    ) {
        self.init(
            kind: kind,
            address: address,
            primaryPHY: .le1M,
            secondaryPHY: .none,
            sid: Self.noSet,
            txPower: Self.noPower,
            rssi: rssi,
            periodicInterval: 0,
            directAddress: target ?? .none,
            data: data
        )
    }

    /// An ADV_EXT_IND with nothing behind it; nil when it has to have something, or does not say whose it is.
    init?(_ pdu: ExtendedAdvertisement, _ frame: ReceivedFrame, primaryPHY: LEPHY) {
        guard pdu.mode == .nonConnectable, pdu.extended.pointer == nil, let advertiser = pdu.extended.advertiser else {
            return nil
        }
        self.init(
            kind: pdu.extended.target == nil ? [] : .directed,
            address: advertiser,
            primaryPHY: primaryPHY,
            secondaryPHY: .none,
            sid: pdu.extended.info?.set ?? Self.noSet,
            txPower: pdu.extended.txPower ?? Self.noPower,
            rssi: frame.rssi,
            periodicInterval: 0,
            directAddress: pdu.extended.target ?? .none,
            data: pdu.data
        )
    }

    /// An advertisement, or the scan response to it, as far as it was heard.
    init(_ trail: AuxiliaryTrail, _ status: LEExtendedReportKind.DataStatus) {
        var kind: LEExtendedReportKind = []
        if trail.mode == .connectable { kind.insert(.connectable) }
        if trail.mode == .scannable { kind.insert(.scannable) }
        if trail.target != nil { kind.insert(.directed) }
        if trail.isResponse { kind.insert(.scanResponse) }
        kind.dataStatus = status
        self.init(
            kind: kind,
            address: trail.advertiser ?? .anonymous,
            primaryPHY: trail.primaryPHY,
            secondaryPHY: trail.secondaryPHY,
            sid: trail.info?.set ?? Self.noSet,
            txPower: trail.txPower ?? Self.noPower,
            rssi: trail.rssi,
            periodicInterval: trail.periodicInterval,
            directAddress: trail.target ?? .none,
            data: trail.data
        )
    }

    /// The same in reports that are short enough for an event: all but the last say that there is more.
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
    /// What a legacy PDU is; a scan response shows what it responds for.
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
