import AssignedNumbers
import BluetoothService
import BluetoothTypes
import Foundation
import ServiceMessages

/// Conclusions from the story of a world, for the report of a failure: what an app has left undone, in words that name
/// the usual cause.
struct WorldHints {
    static let maximum = 12
    /// The time after which an unanswered connection request is worth a hint.
    private static let unansweredTimeout = Duration.seconds(10)

    private struct Owner: Hashable {
        let device: String
        let app: String
        let manager: UInt32

        var text: String { "\(device): \(app)" }
    }

    /// The state of an app's manager with a peer.
    private enum Link {
        case requested
        /// Connected since the app's last connection request; the app has not used the link yet.
        case idle
        case used
        /// Released by the app before it connected.
        case released
        /// The last event was an error, and the app has not reacted.
        case failed(String)
    }

    private struct Peer {
        var name: String?
        var link = Link.used
        var since = Duration.zero
        var connections = 0
    }

    private struct Manager {
        var role = ManagerRole.central
        var opened = Duration.zero
        /// The time at which the app released the manager before it received anything.
        var closed: Duration?
        var isUsed = false
        var scan: (services: [BluetoothUUID], since: Duration)?
        var peers: [UUID: Peer] = [:]
    }

    private var managers: [Owner: Manager] = [:]
    private var order: [Owner] = []
    /// The processes that have ended, by device and app.
    private var ended: Set<[String]> = []
    private var advertisers: [String: [BluetoothUUID]] = [:]

    mutating func add(_ entry: WorldStory.Entry) {
        guard case .observed(let observation) = entry.event, let app = observation.subject.app?.name else { return }
        if case .appMoved(let phase) = observation.content { move(entry.device, app, to: phase, at: entry.time) }
        guard let manager = observation.subject.manager?.rawValue else { return }
        let owner = Owner(device: entry.device, app: app, manager: manager)
        if managers[owner] == nil {
            managers[owner] = Manager()
            order.append(owner)
        }
        switch observation.content {
        case .managerOpened(let role):
            managers[owner]?.role = role
            managers[owner]?.opened = entry.time
        case .managerClosed: close(owner, at: entry.time)
        case .requested(let request): add(request, owner, at: entry.time)
        case .delivered(let event): add(event, owner, at: entry.time)
        default: break
        }
    }

    private mutating func close(_ owner: Owner, at time: Duration) {
        if managers[owner]?.isUsed == false, !ended.contains([owner.device, owner.app]) {
            managers[owner]?.closed = time
        }
        managers[owner]?.scan = nil
        managers[owner]?.peers = [:]
    }

    /// Managers of a process that ends are not released by the app.
    private mutating func move(_ device: String, _ app: String, to phase: AppPhase, at time: Duration) {
        guard case .notRunning = phase else { return _ = ended.remove([device, app]) }
        ended.insert([device, app])
        for owner in order where owner.device == device && owner.app == app && managers[owner]?.closed == time {
            managers[owner]?.closed = nil
        }
    }

    private mutating func add(_ request: Request, _ owner: Owner, at time: Duration) {
        managers[owner]?.isUsed = true
        switch request {
        case .central(.startScan(let scan)): managers[owner]?.scan = (scan.services ?? [], time)
        case .central(.stopScan): managers[owner]?.scan = nil
        case .central(.peer(let peer, let request)): add(request, for: peer, owner, at: time)
        case .peripheral(.startAdvertising(let advertising)):
            advertisers[advertising.localName ?? owner.device] = advertising.services
        default: break
        }
    }

    private mutating func add(_ request: PeerRequest, for peer: UUID, _ owner: Owner, at time: Duration) {
        let old = managers[owner]?.peers[peer]
        let link: Link
        switch (request, old?.link) {
        case (.connect, _): link = .requested
        case (.forget, .requested): link = .released
        case (.forget, let link?): return set(link, peer, owner, at: old?.since ?? time)
        default: link = .used
        }
        set(link, peer, owner, at: time)
    }

    private mutating func add(_ event: Event, _ owner: Owner, at time: Duration) {
        if case .stateChanged = event { managers[owner]?.isUsed = true }
        switch event {
        case .central(.discovered(let info, _, rssi: _)):
            managers[owner]?.scan = nil
            managers[owner]?.peers[info.identifier, default: Peer()].name = info.name
        case .central(.peer(let peer, let event)): add(event, of: peer, owner, at: time)
        default: break
        }
    }

    private mutating func add(_ event: PeerEvent, of peer: UUID, _ owner: Owner, at time: Duration) {
        switch event {
        case .connected:
            managers[owner]?.peers[peer, default: Peer()].connections += 1
            set(.idle, peer, owner, at: time)
        case .servicesDiscovered(.failure(let error)):
            set(.failed("discovering services: \(Self.text(of: error))"), peer, owner, at: time)
        case .characteristicsDiscovered(of: _, .failure(let error)):
            set(.failed("discovering characteristics: \(Self.text(of: error))"), peer, owner, at: time)
        case .valueRead(_, .failure(let error)):
            set(.failed("reading a value: \(Self.text(of: error))"), peer, owner, at: time)
        case .valueWritten(_, let error?):
            set(.failed("writing a value: \(Self.text(of: error))"), peer, owner, at: time)
        case .notifyStateChanged(_, isNotifying: _, let error?):
            set(.failed("subscribing: \(Self.text(of: error))"), peer, owner, at: time)
        case .connectionFailed(let error): set(.failed("connecting: \(Self.text(of: error))"), peer, owner, at: time)
        case .disconnected: set(.used, peer, owner, at: time)
        default: break
        }
    }

    private mutating func set(_ link: Link, _ peer: UUID, _ owner: Owner, at time: Duration) {
        managers[owner]?.peers[peer, default: Peer()].link = link
        managers[owner]?.peers[peer]?.since = time
    }

    // MARK: Words

    func lines(at now: Duration) -> [String] {
        order.flatMap { owner in managers[owner].map { lines(of: $0, owner, at: now) } ?? [] }
    }

    private func lines(of manager: Manager, _ owner: Owner, at now: Duration) -> [String] {
        var lines: [String] = []
        if let closed = manager.closed {
            let type = manager.role == .central ? "CBCentralManager" : "CBPeripheralManager"
            lines.append(
                "\(owner.text) released its \(type) at \(WorldTime.text(closed)), before it received its state: "
                    + "keep the manager in a property"
            )
        }
        if let scan = manager.scan { lines.append(unmet(scan, owner)) }
        let peers = manager.peers.values.sorted { $0.since < $1.since }
        return lines + peers.compactMap { line(of: $0, owner, at: now) }
    }

    private func unmet(_ scan: (services: [BluetoothUUID], since: Duration), _ owner: Owner) -> String {
        let wanted = scan.services.isEmpty ? "any services" : Self.list(scan.services)
        let heard = advertisers.sorted { $0.key < $1.key }.map { name, services in
            "\"\(name)\" with \(services.isEmpty ? "no services" : Self.list(services))"
        }
        return "\(owner.text) has scanned for \(wanted) since \(WorldTime.text(scan.since)) and discovered nothing; "
            + (heard.isEmpty ? "no app has advertised" : "advertised were: \(heard.joined(separator: "; "))")
    }

    private func line(of peer: Peer, _ owner: Owner, at now: Duration) -> String? {
        let name = peer.name.map { "\"\($0)\"" } ?? "a peer"
        let since = WorldTime.text(peer.since)
        switch peer.link {
        case .requested:
            guard now - peer.since >= Self.unansweredTimeout else { return nil }
            return "\(owner.text) has waited for a connection to \(name) since \(since): "
                + "a connection request never times out, so the app has to cancel it"
        case .released:
            return "\(owner.text) released the CBPeripheral of \(name) at \(since), which canceled its connection: "
                + "keep the peripheral in a property"
        case .idle:
            let again = peer.connections > 1 ? " again, whose services have to be discovered again," : ""
            return "\(owner.text) connected to \(name)\(again) at \(since) and made no request since: "
                + "services is nil until discoverServices(_:) has found them"
        case .failed(let text):
            return "\(owner.text) received an error of \(name) at \(since) and made no request since: \(text)"
        case .used: return nil
        }
    }

    private static func text(of error: ServiceError) -> String { error.reason ?? "\(error.code)" }

    private static func list(_ services: [BluetoothUUID]) -> String {
        services.prefix(8).map { AssignedNumbers.title(of: $0) }.joined(separator: ", ")
    }
}
