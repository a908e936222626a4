import BluetoothTypes
import HCI
import Security

/// An advertisement or scan response from any of the three kinds of report.
struct ReceivedPacket: Hashable {
    var kind: AdvertisingKind
    var advertiser: AdvertiserKey
    var data: PacketBuffer
    var rssi: Int
    var target: BluetoothAddress?
    var phys: Sighting.PHYs?
    var txPower: Int?
    var isTruncated = false
    /// Whether the advertiser's private address was resolved.
    var isResolved: Bool
    /// The private address, if the host resolved it.
    var privateAddress: BluetoothAddress?

    init(_ kind: AdvertisingKind, from address: BluetoothAddress, data: PacketBuffer, rssi: Int) {
        self.kind = kind
        advertiser = AdvertiserKey(address.plain)
        isResolved = address.isResolvedByController
        self.data = data
        self.rssi = rssi
    }

    /// Creates a packet from a report. Returns nil for an unassigned kind.
    init?(_ report: AdvertisingReport) {
        guard let kind = AdvertisingKind(report.kind) else { return nil }
        self.init(kind, from: report.address, data: report.data, rssi: Int(report.rssi))
    }

    /// Creates a packet from a report. Returns nil for an unassigned kind.
    init?(_ report: DirectedAdvertisingReport) {
        guard let kind = AdvertisingKind(report.kind) else { return nil }
        self.init(kind, from: report.address, data: [], rssi: Int(report.rssi))
        target = report.directAddress
    }

    /// Creates a packet from a report whose data is complete; see ``ReportAssembler``.
    init(_ report: ExtendedAdvertisingReport) {
        let bits: AdvertisingKind = [.isConnectable, .isScannable, .isDirected, .isScanResponse]
        var kind = AdvertisingKind(rawValue: UInt8(truncatingIfNeeded: report.kind.rawValue)).intersection(bits)
        // A scan response is reported with the kind of the advertisement that it belongs to.
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

    /// Replaces the advertiser's address with its identity address.
    mutating func resolve(to identity: BluetoothAddress) {
        guard advertiser.address != identity else { return }
        privateAddress = advertiser.address
        advertiser.address = identity
        isResolved = true
    }
}

extension LEPHY {
    /// The PHY without meaningless bits, which some controllers set (quirk 10).
    fileprivate var known: LEPHY { LEPHY(rawValue: rawValue & 0x1F) }
}

extension BluetoothAddress {
    /// Whether the controller has replaced a private address with an identity address (Core Vol 4 Part E 7.7.65.13).
    fileprivate var isResolvedByController: Bool { kind == .publicIdentity || kind == .randomIdentity }
}

extension AdvertisingKind {
    /// Creates the kind of a legacy report; nil if it is unassigned.
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
    /// The advertiser. An anonymous one has a special address type (Core Vol 4 Part E 7.7.65.13).
    var advertiser: AdvertiserKey {
        let sid = kind.contains(.legacy) || sid > 0x0F ? nil : sid
        return AdvertiserKey(address.kind.rawValue == 0xFF ? .none : address, sid: sid)
    }
}
