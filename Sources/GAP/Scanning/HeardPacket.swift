import BluetoothTypes
import HCI
import Privacy

/// One advertisement or scan response as a report tells of it, whichever of the three reports that is.
struct HeardPacket: Hashable {
    var kind: AdvertisingKind
    var advertiser: AdvertiserKey
    var data: PacketBuffer
    var rssi: Int
    var target: BluetoothAddress?
    var phys: Sighting.PHYs?
    var txPower: Int?
    var isTruncated = false
    /// Whether the advertiser was recognised behind a private address.
    var isResolved: Bool
    /// The private address that was recognised, when the host did it.
    var privateAddress: BluetoothAddress?

    /// A packet of this kind.
    init(_ kind: AdvertisingKind, from address: BluetoothAddress, data: PacketBuffer, rssi: Int) {
        self.kind = kind
        advertiser = AdvertiserKey(address.plain)
        isResolved = address.isResolvedByController
        self.data = data
        self.rssi = rssi
    }

    /// Nil for a kind that there is not.
    init?(_ report: AdvertisingReport) {
        guard let kind = AdvertisingKind(report.kind) else { return nil }
        self.init(kind, from: report.address, data: report.data, rssi: Int(report.rssi))
    }

    /// Nil for a kind that there is not.
    init?(_ report: DirectedAdvertisingReport) {
        guard let kind = AdvertisingKind(report.kind) else { return nil }
        self.init(kind, from: report.address, data: [], rssi: Int(report.rssi))
        target = report.directAddress
    }

    /// A report whose data are all there; see ``ReportAssembler``.
    init(_ report: ExtendedAdvertisingReport) {
        let bits: AdvertisingKind = [.isConnectable, .isScannable, .isDirected, .isScanResponse]
        var kind = AdvertisingKind(rawValue: UInt8(truncatingIfNeeded: report.kind.rawValue)).intersection(bits)
        // A scan response is told with the kind of what it is an answer to.
        if kind.contains(.isScanResponse) { kind = .scanResponse }
        let isLegacy = report.kind.contains(.legacy)
        self.init(kind, from: report.advertiser.address, data: report.data, rssi: Int(report.rssi))
        advertiser = report.advertiser
        advertiser.address = advertiser.address.plain
        if kind.contains(.isDirected) { target = report.directAddress }
        if !isLegacy { phys = Sighting.PHYs(primary: report.primaryPHY.known, secondary: report.secondaryPHY.known) }
        txPower = report.txPower == Self.unknownPower ? nil : Int(report.txPower)
    }

    private static let unknownPower: Int8 = 127

    /// Names the advertiser by its identity.
    mutating func resolve(to identity: BluetoothAddress) {
        guard advertiser.address != identity else { return }
        privateAddress = advertiser.address
        advertiser.address = identity
        isResolved = true
    }
}

extension LEPHY {
    /// The bits that mean something: controllers were seen that set others (quirk 10).
    fileprivate var known: LEPHY { LEPHY(rawValue: rawValue & 0x1F) }
}

extension BluetoothAddress {
    /// Whether the controller tells an identity in the place of a private address (Core Vol 4 Part E 7.7.65.13).
    fileprivate var isResolvedByController: Bool { kind == .publicIdentity || kind == .randomIdentity }
}

extension AdvertisingKind {
    /// The kind of a legacy report; nil for a number that is none.
    init?(_ kind: LEAdvertisingReportKind) {
        switch kind {
        case .connectableScannable: self = .connectable
        case .directed: self = .directed
        case .scannable: self = .scannable
        case .nonConnectable: self = .nonConnectable
        case .scanResponse: self = .scanResponse
        default: return nil
        }
    }
}

extension ExtendedAdvertisingReport {
    /// The advertiser. An anonymous one has a type of address of its own (Core Vol 4 Part E 7.7.65.13).
    var advertiser: AdvertiserKey {
        let sid = kind.contains(.legacy) || sid > 0x0F ? nil : sid
        return AdvertiserKey(address.kind.rawValue == 0xFF ? .none : address, sid: sid)
    }
}
