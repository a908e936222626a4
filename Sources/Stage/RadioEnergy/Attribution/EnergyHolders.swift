import Foundation
import ServiceEvents
import ServiceMessages

/// The managers that use the radio, by purpose, as the messages between apps and the service show it.
///
/// A value without I/O: events in, accounts out.
struct EnergyHolders: Sendable {
    /// A manager of an app.
    struct Manager: Hashable, Sendable {
        let app: AppIdentity
        let id: ManagerID
    }

    /// The use of one peer by managers.
    private struct Peer {
        var connecting: Set<Manager> = []
        var connected: Set<Manager> = []
        /// The operations that have not ended, in the order of their requests.
        var operations: [(manager: Manager, operation: EnergyOperation)] = []
        var channels: [Manager: Int] = [:]

        var isUnused: Bool { connecting.isEmpty && connected.isEmpty && operations.isEmpty && channels.isEmpty }

        mutating func forget(_ manager: Manager) {
            connecting.remove(manager)
            connected.remove(manager)
            operations.removeAll { $0.manager == manager }
            channels[manager] = nil
        }
    }

    /// The maximum number of peers, and of operations on each. What exceeds them counts as upkeep.
    private static let maximumPeers = 512
    private static let maximumOperations = 256

    private var scanning: Set<Manager> = []
    private var advertising: Set<Manager> = []
    private var publishing: Set<Manager> = []
    /// The number of updates in the queue, by manager.
    private var updates: [Manager: Int] = [:]
    private var peers: [UUID: Peer] = [:]
    /// The names of peers, as apps have received them.
    private(set) var names: [UUID: String] = [:]

    // MARK: Accounts

    var scanners: Set<EnergyAccount> { Self.accounts(scanning, .scanning) }
    var advertisers: Set<EnergyAccount> { Self.accounts(advertising, .advertising) }
    var connectors: Set<EnergyAccount> {
        Self.accounts(peers.values.reduce(into: []) { $0.formUnion($1.connecting) }, .connecting)
    }

    /// Returns the accounts that share what a link to a peer costs for a purpose: those of the apps connected over it;
    /// without one, of those that are connecting to the peer; without one, of those that publish services.
    func sharing(_ peer: UUID, for use: EnergyUse) -> Set<EnergyAccount> {
        Self.accounts(sharing(peer), use)
    }

    private func sharing(_ peer: UUID) -> Set<Manager> {
        let uses = peers[peer]
        for managers in [uses?.connected, uses?.connecting] {
            if let managers, !managers.isEmpty { return managers }
        }
        return publishing
    }

    /// Returns the accounts that share the data on a link: those of the operations in progress, each once.
    ///
    /// Without any, the data is that of open channels; then of updates in a queue; then of what published services
    /// answer; then of a procedure of the system, which the apps that use the link share.
    ///
    /// - Parameters:
    ///   - peer: The peer.
    ///   - event: The purpose, if the event that ended the span tells it.
    ///   - manager: The manager that received the event.
    func data(of peer: UUID, endedBy event: EnergyUse?, for manager: Manager?) -> Set<EnergyAccount> {
        if let event {
            return manager.map { [EnergyAccount(app: $0.app.name, use: event)] } ?? sharing(peer, for: event)
        }
        if let uses = peers[peer] {
            if !uses.operations.isEmpty {
                return Set(uses.operations.map { .init(app: $0.manager.app.name, use: .operation($0.operation, peer)) })
            }
            if !uses.channels.isEmpty { return Self.accounts(Set(uses.channels.keys), .operation(.channels, peer)) }
        }
        let sharing = sharing(peer)
        let updating = sharing.filter { updates[$0] ?? 0 > 0 }
        if !updating.isEmpty { return Self.accounts(updating, .operation(.updates, peer)) }
        if sharing == publishing, !publishing.isEmpty { return Self.accounts(publishing, .operation(.serving, peer)) }
        return Self.accounts(sharing, .procedure(.exchange, peer))
    }

    private static func accounts(_ managers: Set<Manager>, _ use: EnergyUse) -> Set<EnergyAccount> {
        managers.isEmpty ? [EnergyAccount(app: nil, use: use)] : Set(managers.map { .init(app: $0.app.name, use: use) })
    }

    // MARK: Messages

    mutating func accept(_ content: Observation.Content, of manager: Manager) {
        switch content {
        case .managerOpened, .managerClosed: forget(manager)
        case .requested(.central(let request)): accept(request, of: manager)
        case .requested(.peripheral(let request)): accept(request, of: manager)
        case .delivered(.central(let event)): accept(event, of: manager)
        case .delivered(.peripheral(.updateCreditsReturned(let count))): endUpdates(count, of: manager)
        case .delivered(.peripheral(.channelOpened(_, let central, _))):
            change(central.identifier) { $0.channels[manager, default: 0] += 1 }
        default: break
        }
    }

    private mutating func forget(_ manager: Manager) {
        for keyPath in [\Self.scanning, \.advertising, \.publishing] { self[keyPath: keyPath].remove(manager) }
        updates[manager] = nil
        for peer in peers.keys { change(peer) { $0.forget(manager) } }
    }

    mutating func linkEnded(to peer: UUID) {
        change(peer) { uses in
            uses.operations = []
            uses.channels = [:]
        }
    }

    private mutating func change(_ peer: UUID, _ body: (inout Peer) -> Void) {
        guard peers[peer] != nil || peers.count < Self.maximumPeers else { return }
        var uses = peers[peer] ?? Peer()
        body(&uses)
        peers[peer] = uses.isUnused ? nil : uses
    }

    private mutating func accept(_ request: CentralRequest, of manager: Manager) {
        switch request {
        case .startScan: scanning.insert(manager)
        case .stopScan: scanning.remove(manager)
        case .peer(let peer, let request): accept(request, to: peer, of: manager)
        case .watchConnections, .resetScanFilter: break
        }
    }

    private mutating func accept(_ request: PeerRequest, to peer: UUID, of manager: Manager) {
        change(peer) { uses in
            switch request {
            case .connect: if !uses.connected.contains(manager) { uses.connecting.insert(manager) }
            case .cancelConnection, .forget: uses.connecting.remove(manager)
            case .link(let request), .ask(_, let request):
                guard let operation = request.operation, uses.operations.count < Self.maximumOperations else { return }
                uses.operations.append((manager, operation))
            }
        }
    }

    private mutating func accept(_ request: PeripheralRequest, of manager: Manager) {
        switch request {
        case .addService: publishing.insert(manager)
        case .removeAllServices: publishing.remove(manager)
        case .startAdvertising: advertising.insert(manager)
        case .stopAdvertising: advertising.remove(manager)
        case .updateValue: updates[manager, default: 0] += 1
        default: break
        }
    }

    private mutating func endUpdates(_ count: Int, of manager: Manager) {
        updates[manager] = max((updates[manager] ?? 0) - count, 0)
    }

    private mutating func accept(_ event: CentralEvent, of manager: Manager) {
        switch event {
        case .discovered(let peer, _, _):
            guard let name = peer.name, names[peer.identifier] != nil || names.count < Self.maximumPeers else { return }
            names[peer.identifier] = name
        case .peer(let peer, let event), .answered(let peer, _, let event): accept(event, of: peer, for: manager)
        case .willRestore(let state):
            if state.scan != nil { scanning.insert(manager) }
            for peer in state.peers {
                let isConnected = peer.maximumWriteWithoutResponse != nil
                change(peer.info.identifier) { uses in
                    if isConnected { uses.connected.insert(manager) } else { uses.connecting.insert(manager) }
                }
            }
        case .connectionChanged, .lost: break
        }
    }

    private mutating func accept(_ event: PeerEvent, of peer: UUID, for manager: Manager) {
        change(peer) { uses in
            switch event {
            case .connected:
                uses.connecting.remove(manager)
                uses.connected.insert(manager)
            case .connectionFailed: uses.connecting.remove(manager)
            case .disconnected(_, let isReconnecting, _):
                uses.forget(manager)
                if isReconnecting { uses.connecting.insert(manager) }
            case .channelOpened(_, .success): uses.channels[manager, default: 0] += 1
            default: break
            }
            for _ in 0..<event.endedOperations {
                let ended = uses.operations.firstIndex { $0.manager == manager && $0.operation == event.operation }
                if let ended { uses.operations.remove(at: ended) }
            }
        }
        if case .connected(let name?, _) = event, names.count < Self.maximumPeers { names[peer] = name }
    }
}
