import BluetoothTypes
import Cryptography
import EventLoops
import HCI
import Testing

@testable import LinkLayer

/// The command set that a host uses, which determines the PDUs on the air.
enum CommandSet: String, Sendable, CaseIterable, CustomTestStringConvertible {
    case legacy
    case extended
    var testDescription: String { rawValue }
}

extension TestHost {
    /// The identity resolving key that this host distributes.
    var identityKey: Key128 { Key128(Block128(high: 0xFEED, low: address.value)) }

    /// Puts another host on the resolving list.
    ///
    /// - Parameters:
    ///   - hasKey: whether the peer has given its key.
    ///   - hides: whether this host is private towards the peer.
    @discardableResult
    func list(_ peer: TestHost, hasKey: Bool = true, hides: Bool = true) -> HCIStatus {
        list(peer.address, key: hasKey ? peer.identityKey : .zero, localKey: hides ? identityKey : .zero)
    }

    @discardableResult
    func list(_ peer: BluetoothAddress, key: Key128, localKey: Key128) -> HCIStatus {
        send(
            LEAddDeviceToResolvingList(
                peerIdentity: peer,
                peerIRK: PacketBuffer(key.littleEndianBytes),
                localIRK: PacketBuffer(localKey.littleEndianBytes)
            )
        )
    }

    @discardableResult
    func resolve(_ isEnabled: Bool = true) -> HCIStatus {
        send(LESetAddressResolutionEnable(isEnabled: isEnabled))
    }

    @discardableResult
    func mode(_ mode: LEPrivacyMode, for peer: TestHost) -> HCIStatus {
        send(LESetPrivacyMode(peerIdentity: peer.address, mode: mode))
    }

    /// Lists the peer and enables address resolution.
    func befriend(_ peer: TestHost, hasKey: Bool = true, hides: Bool = true) {
        list(peer, hasKey: hasKey, hides: hides)
        resolve()
    }

    func setRandomAddress(_ value: UInt64) { send(LESetRandomAddress(address: .init(value, kind: .randomDevice))) }

    // MARK: Advertising

    /// Starts connectable advertising with the keys towards a peer; legacy PDUs are scannable as well.
    @discardableResult
    func advertise(
        _ commands: CommandSet,
        as own: OwnAddressKind = .resolvableOrPublic,
        peer: BluetoothAddress = .none,
        isDirected: Bool = false,
        policy: LEAdvertisingFilterPolicy = .unfiltered,
        set: UInt8 = 0
    ) -> HCIStatus {
        guard commands == .extended else {
            let status = send(
                LESetAdvertisingParameters.sending(
                    isDirected ? .directedLowDutyCycle : .connectableScannable,
                    own: own,
                    peer: peer,
                    policy: policy
                )
            )
            return status == .success ? send(LESetAdvertisingEnable(isEnabled: true)) : status
        }
        return advertiseExtended(isDirected ? [.connectable, .directed] : .connectable, set: set) {
            ($0.ownAddressKind, $0.peerAddress, $0.filterPolicy) = (own, peer, policy)
            $0.notifiesScanRequests = true
        }
    }

    func stopAdvertising(_ commands: CommandSet) {
        if commands == .legacy { send(LESetAdvertisingEnable(isEnabled: false)) } else { enable([], false) }
    }

    // MARK: Scanning

    @discardableResult
    func scan(
        _ commands: CommandSet,
        _ kind: LEScanKind = .passive,
        as own: OwnAddressKind = .publicDevice,
        policy: LEScanFilterPolicy = .unfiltered,
        filter: LEDuplicateFilter = .disabled
    ) -> HCIStatus {
        let windows = PHYScanParameters(kind: kind, scanInterval: 0x10, scanWindow: 0x10)
        if commands == .extended {
            let status = send(
                LESetExtendedScanParameters {
                    $0.ownAddressKind = own
                    $0.filterPolicy = policy
                    $0.le1M = windows
                }
            )
            guard status == .success else { return status }
            return send(LESetExtendedScanEnable(isEnabled: true, filterDuplicates: filter, duration: 0, period: 0))
        }
        let status = send(
            LESetScanParameters {
                $0.kind = kind
                $0.scanInterval = 0x10
                $0.scanWindow = 0x10
                $0.ownAddressKind = own
                $0.filterPolicy = policy
            }
        )
        return status == .success ? send(LESetScanEnable(isEnabled: true, filterDuplicates: filter)) : status
    }

    func stopScanning(_ commands: CommandSet) {
        if commands == .legacy {
            send(LESetScanEnable(isEnabled: false, filterDuplicates: .disabled))
        } else {
            send(LESetExtendedScanEnable(isEnabled: false, filterDuplicates: .disabled, duration: 0, period: 0))
        }
    }

    /// The addresses reported to the host.
    func heard(_ commands: CommandSet) -> Set<BluetoothAddress> {
        if commands == .extended { return Set(reports.map(\.address)) }
        return Set(events(LEAdvertisingReport.self).flatMap(\.reports).map(\.address))
    }

    // MARK: Initiating

    /// Initiates towards a peer, or towards the devices on the accept list.
    @discardableResult
    func connect(
        _ commands: CommandSet,
        to peer: BluetoothAddress?,
        as own: OwnAddressKind = .resolvableOrPublic
    ) -> HCIStatus {
        if commands == .extended {
            return send(
                LEExtendedCreateConnection {
                    $0.filterPolicy = peer == nil ? .acceptList : .peerAddress
                    $0.ownAddressKind = own
                    $0.peerAddress = peer ?? .none
                    $0.le1M = .standard
                }
            )
        }
        return send(
            LECreateConnection.scanning(for: peer ?? .none, own: own, policy: peer == nil ? .acceptList : .peerAddress)
        )
    }
}

/// The addresses that were on the air, in the order of their first appearance.
final class AirLog {
    private(set) var advertisers: [BluetoothAddress] = []
    private(set) var targets: [BluetoothAddress] = []
    private(set) var scanners: [BluetoothAddress] = []
    private(set) var initiators: [BluetoothAddress] = []
    /// The first and the last time at which each advertiser's address was on the air.
    private(set) var times: [BluetoothAddress: (first: Instant, last: Instant)] = [:]
    private(set) var identifiers: [UInt16] = []
    private(set) var frames: [[UInt8]] = []

    init(_ world: LinkLayerWorld) {
        world.sniff { [unowned self] in record($0) }
    }

    /// All addresses on the air, in any field.
    var all: Set<BluetoothAddress> { Set(advertisers + targets + scanners + initiators) }

    func forget() {
        (advertisers, targets, scanners, initiators) = ([], [], [], [])
        (times, identifiers, frames) = ([:], [], [])
    }

    private func record(_ sniffed: SniffedFrame) {
        frames.append(sniffed.frame.pdu)
        guard sniffed.frame.accessAddress == AccessAddress.advertising,
            let pdu = try? AdvertisingPDU(reading: PacketBuffer(sniffed.frame.pdu))
        else { return }
        switch pdu {
        case .connectableScannable(let body), .nonConnectable(let body), .scannable(let body), .scanResponse(let body):
            add(advertiser: body.advertiser, sniffed.start)
        case .directed(let body):
            add(advertiser: body.advertiser, sniffed.start)
            add(body.target, to: &targets)
        case .scanRequest(let body): add(body.scanner, to: &scanners)
        case .connect(let body): add(body.initiator, to: &initiators)
        case .extended(let body):
            if let address = body.extended.advertiser { add(advertiser: address, sniffed.start) }
            if let address = body.extended.target { add(address, to: &targets) }
            if let info = body.extended.info, identifiers.last != info.data { identifiers.append(info.data) }
        case .connectResponse: break
        }
    }

    private func add(advertiser: BluetoothAddress, _ time: Instant) {
        add(advertiser, to: &advertisers)
        times[advertiser, default: (time, time)].last = time
    }

    private func add(_ address: BluetoothAddress, to list: inout [BluetoothAddress]) {
        if !list.contains(address) { list.append(address) }
    }
}
