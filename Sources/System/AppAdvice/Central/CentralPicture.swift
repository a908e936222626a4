import BluetoothTypes
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

        static let maximumCharacteristics = 256

        var link = Link.none
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
        /// The time of the last request or event of the peer.
        var lastUse = Instant.zero
        /// The octets of values in the present connection, in both directions.
        var octets = 0
        /// The time of the last notification of each value, since the subscription last changed.
        var arrivals: [AttributeHandle: Instant] = [:]

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
        use(request, at: now)
        switch request {
        case .startScan(let request):
            scan = Scan(request: request, since: scan?.since ?? now, site: scan?.site ?? site)
        case .stopScan: scan = nil
        case .peer(let id, .connect):
            guard self[id].link == .none else { return }
            change(id) { ($0.link, $0.site) = (.pending, site) }
        case .peer(let id, .link(.setNotify(let handle, isEnabled: true))),
            .peer(let id, .ask(_, .setNotify(let handle, isEnabled: true))):
            guard let peer = peers[id], peer.subscribing.count < Peer.maximumCharacteristics else { return }
            peers[id]?.subscribing[handle] = site
        // The subscription counts as ended from the call on, so that the app need not wait for the answer.
        case .peer(let id, .link(.setNotify(let handle, isEnabled: false))),
            .peer(let id, .ask(_, .setNotify(let handle, isEnabled: false))):
            peers[id]?.notifying.remove(handle)
        case .peer(let id, .cancelConnection), .peer(let id, .forget): peers[id]?.end()
        case .peer, .watchConnections, .resetScanFilter: break
        }
    }

    /// Counts a value that the manager is notified of.
    ///
    /// - Returns: The octets of values in the connection so far; 0 without a connection.
    mutating func count(_ octets: Int, of handle: AttributeHandle, _ id: UUID, at now: Instant) -> Int {
        guard let index = peers.index(forKey: id) else { return 0 }
        return peers.values[index].count(octets, of: handle, at: now)
    }

    mutating func accept(_ event: CentralEvent, at now: Instant) {
        switch event {
        case .discovered(let info, _, rssi: _):
            if let name = info.name { peers[info.identifier]?.name = name }
        case .peer(let id, let event), .answered(let id, number: _, let event): accept(event, of: id, at: now)
        case .willRestore(let state):
            scan = state.scan.map { Scan(request: $0, since: now, site: nil) }
            for peer in state.peers { restore(peer) }
        case .connectionChanged, .lost: break
        }
    }

    /// Everything ends with the radio: `ManagerState.poweredOff` and those before it.
    mutating func accept(_ state: ManagerState) {
        guard state != .poweredOn else { return }
        scan = nil
        peers = [:]
    }

    private mutating func restore(_ peer: RestoredPeer) {
        change(peer.info.identifier) {
            $0.link = peer.maximumWriteWithoutResponse == nil ? .pending : .connected
            $0.name = peer.info.name
            if let maximum = peer.maximumWriteWithoutResponse { $0.maximumWrite = maximum }
            for restored in peer.services.flatMap(\.characteristics) {
                $0.learn(restored.characteristic)
                if restored.isNotifying { $0.notifying.insert(restored.characteristic.handle) }
            }
        }
    }

    private mutating func use(_ request: CentralRequest, at now: Instant) {
        switch request {
        case .peer(let id, .link(let request)), .peer(let id, .ask(_, let request)):
            peers[id]?.lastUse = now
            peers[id]?.count(request.valueOctets)
        default: break
        }
    }

    private mutating func accept(_ event: PeerEvent, of id: UUID, at now: Instant) {
        peers[id]?.lastUse = now
        switch event {
        case .valueNotified(let handle, let value): _ = count(value.count, of: handle, id, at: now)
        case .valueRead(_, .success(let value)): peers[id]?.count(value.count)
        case .connected(let name, let maximum):
            change(id) {
                ($0.link, $0.lastUse, $0.maximumWrite) = (.connected, now, maximum)
                $0.name = name ?? $0.name
            }
        case .connectionFailed: peers[id]?.end()
        case .disconnected(_, let isReconnecting, _): peers[id]?.end(pending: isReconnecting)
        case .characteristicsDiscovered(of: _, .success(let found)):
            for each in found { peers[id]?.learn(each) }
        case .notifyStateChanged(let handle, let isNotifying, nil):
            if isNotifying { peers[id]?.notifying.insert(handle) } else { peers[id]?.notifying.remove(handle) }
            peers[id]?.arrivals[handle] = nil
        case .maximumWriteLengthChanged(let maximum): peers[id]?.maximumWrite = maximum
        default: break
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
    fileprivate mutating func end(pending: Bool = false) {
        (link, notifying) = (pending ? .pending : .none, [])
        (characteristics, subscribing) = ([:], [:])
        (octets, arrivals) = (0, [:])
    }

    fileprivate mutating func learn(_ characteristic: RemoteCharacteristic) {
        guard characteristics.count < Self.maximumCharacteristics else { return }
        characteristics[characteristic.handle] = Characteristic(
            uuid: characteristic.uuid,
            properties: characteristic.properties
        )
    }

    /// Counts octets of values if there is a connection.
    fileprivate mutating func count(_ octets: Int) {
        if link == .connected { self.octets += octets }
    }

    /// Counts a notification. Returns the octets of values so far.
    fileprivate mutating func count(_ octets: Int, of handle: AttributeHandle, at now: Instant) -> Int {
        lastUse = now
        if arrivals.count < Self.maximumCharacteristics || arrivals[handle] != nil { arrivals[handle] = now }
        guard link == .connected else { return 0 }
        self.octets += octets
        return self.octets
    }
}

extension LinkRequest {
    /// The length of the value that the request writes.
    var valueOctets: Int {
        switch self {
        case .writeCharacteristic(_, value: let value), .writeWithoutResponse(_, value: let value): value.count
        default: 0
        }
    }
}
