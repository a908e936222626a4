import BluetoothTypes
import CallSites
import EventLoops
import Foundation
import ServiceMessages

/// A central manager, as its messages show it. Detectors use it, so that each need not follow the messages by itself.
struct CentralPicture: Sendable {
    /// The use of a peer by the manager.
    struct Peer: Sendable {
        /// The connection of the manager.
        enum Link: Equatable, Sendable {
            case none, pending, connected
        }

        /// A characteristic that was discovered.
        struct Characteristic: Sendable {
            let uuid: BluetoothUUID
            let properties: UInt8

            /// Notify or Indicate (Core Vol 3 Part G 3.3.1.1).
            var canNotify: Bool { properties & 0x30 != 0 }
        }

        /// The maximum number of characteristics that are remembered.
        static let maximumCharacteristics = 256

        var link = Link.none
        /// Since when ``link`` has its value.
        var since = Instant.zero
        var name: String?
        /// The place of the call that connects.
        var site: CallSite?
        /// The places of the calls that subscribe, by the handle of the value.
        var subscribing: [AttributeHandle: CallSite] = [:]
        /// By the handle of the value.
        var characteristics: [AttributeHandle: Characteristic] = [:]
        /// The characteristics that the manager is subscribed to.
        var notifying: Set<AttributeHandle> = []
        /// The maximum length of a write without response, in octets.
        var maximumWrite = 20

        /// The device for a reader.
        var words: String { name.map { "\"\($0)\"" } ?? "a device" }

        /// A characteristic for a reader.
        func words(_ handle: AttributeHandle) -> String {
            characteristics[handle]?.uuid.words ?? "the value with handle \(handle)"
        }
    }

    /// A scan that runs.
    struct Scan: Sendable {
        let request: ScanRequest
        /// When the app started to scan. A second call, without a stop, does not change it.
        let since: Instant
        /// The place of the call that started it, the first one.
        let site: CallSite?
    }

    /// The maximum number of peers that are remembered. The manager has at most a few dozen connections.
    static let maximumPeers = 256

    private(set) var scan: Scan?
    private(set) var peers: [UUID: Peer] = [:]

    /// The peer; one that is new has no connection.
    subscript(_ peer: UUID) -> Peer { peers[peer] ?? Peer() }

    mutating func accept(_ request: CentralRequest, at now: Instant, from site: CallSite? = nil) {
        switch request {
        case .startScan(let request):
            scan = Scan(request: request, since: scan?.since ?? now, site: scan?.site ?? site)
        case .stopScan: scan = nil
        case .peer(let id, .connect):
            guard self[id].link == .none else { return }
            change(id) { ($0.link, $0.since, $0.site) = (.pending, now, site) }
        case .peer(let id, .link(.setNotify(let handle, isEnabled: true))),
            .peer(let id, .ask(_, .setNotify(let handle, isEnabled: true))):
            guard peers[id] != nil else { return }
            change(id) { peer in
                if peer.subscribing.count < Peer.maximumCharacteristics { peer.subscribing[handle] = site }
            }
        // The subscription counts as ended from the call on, so that the app need not wait for the answer.
        case .peer(let id, .link(.setNotify(let handle, isEnabled: false))),
            .peer(let id, .ask(_, .setNotify(let handle, isEnabled: false))):
            peers[id]?.notifying.remove(handle)
        case .peer(let id, .cancelConnection), .peer(let id, .forget): end(id, at: now)
        case .peer, .watchConnections, .resetScanFilter: break
        }
    }

    mutating func accept(_ event: CentralEvent, at now: Instant) {
        switch event {
        case .discovered(let info, _, rssi: _):
            if peers[info.identifier] != nil, let name = info.name { change(info.identifier) { $0.name = name } }
        case .peer(let id, let event), .answered(let id, number: _, let event): accept(event, of: id, at: now)
        case .willRestore(let state):
            scan = state.scan.map { Scan(request: $0, since: now, site: nil) }
            for peer in state.peers { restore(peer, at: now) }
        case .connectionChanged, .lost: break
        }
    }

    /// Everything ends with the radio: `ManagerState.poweredOff` and those before it.
    mutating func accept(_ state: ManagerState) {
        guard state != .poweredOn else { return }
        scan = nil
        peers = [:]
    }

    private mutating func restore(_ peer: RestoredPeer, at now: Instant) {
        change(peer.info.identifier) {
            $0.link = peer.maximumWriteWithoutResponse == nil ? .pending : .connected
            ($0.since, $0.name) = (now, peer.info.name)
            if let maximum = peer.maximumWriteWithoutResponse { $0.maximumWrite = maximum }
            for characteristic in peer.services.flatMap(\.characteristics) { $0.learn(characteristic.characteristic) }
        }
    }

    private mutating func accept(_ event: PeerEvent, of id: UUID, at now: Instant) {
        switch event {
        case .connected(let name, let maximum):
            change(id) {
                ($0.link, $0.since, $0.maximumWrite) = (.connected, now, maximum)
                $0.name = name ?? $0.name
            }
        case .connectionFailed: end(id, at: now)
        case .disconnected(_, let isReconnecting, _): end(id, at: now, pending: isReconnecting)
        case .characteristicsDiscovered(of: _, .success(let found)):
            change(id) { peer in found.forEach { peer.learn($0) } }
        case .notifyStateChanged(let handle, let isNotifying, nil):
            change(id) { peer in
                if isNotifying { peer.notifying.insert(handle) } else { peer.notifying.remove(handle) }
            }
        case .maximumWriteLengthChanged(let maximum): change(id) { $0.maximumWrite = maximum }
        default: break
        }
    }

    private mutating func end(_ id: UUID, at now: Instant, pending: Bool = false) {
        guard peers[id] != nil else { return }
        change(id) {
            ($0.link, $0.since, $0.notifying) = (pending ? .pending : .none, now, [])
            ($0.characteristics, $0.subscribing) = ([:], [:])
        }
    }

    private mutating func change(_ id: UUID, _ body: (inout Peer) -> Void) {
        if peers[id] == nil, peers.count >= Self.maximumPeers {
            peers = peers.filter { $0.value.link != .none }
            guard peers.count < Self.maximumPeers else { return }
        }
        body(&peers[id, default: Peer()])
    }
}

extension CentralPicture.Peer {
    fileprivate mutating func learn(_ characteristic: RemoteCharacteristic) {
        guard characteristics.count < Self.maximumCharacteristics else { return }
        characteristics[characteristic.handle] = Characteristic(
            uuid: characteristic.uuid,
            properties: characteristic.properties
        )
    }
}
