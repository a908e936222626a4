import Foundation
import ServiceMessages

/// The requests that a manager would have to repeat. For a central manager: its scan, then its connections by peer. For
/// a peripheral manager: its services in the order of publishing, then its advertisement.
extension [Request] {
    /// Returns the requests to repeat once `request` has been fulfilled. A refusal would change nothing, which becomes
    /// known only when the request has been performed.
    func after(_ request: Request) -> [Request] {
        switch request {
        case .central(.startScan(let scan)): [.central(.startScan(scan))] + filter { !$0.isScan }
        case .central(.stopScan): filter { !$0.isScan }
        case .central(.peer(let peer, .connect)): wantedPeer(peer) ? self : inserting(request, of: peer)
        case .central(.peer(let peer, .cancelConnection)), .central(.peer(let peer, .forget)):
            filter { $0.connected != peer }
        case .peripheral(.addService(let service)): publishes(service.id) ? self : inserting(request)
        case .peripheral(.removeService(let id)): filter { $0.published != id }
        case .peripheral(.removeAllServices): filter { $0.published == nil }
        case .peripheral(.startAdvertising): contains(where: \.isAdvertisement) ? self : self + [request]
        case .peripheral(.stopAdvertising): filter { !$0.isAdvertisement }
        case .central, .peripheral, .channel: self
        }
    }

    private func wantedPeer(_ peer: UUID) -> Bool { contains { $0.connected == peer } }

    private func publishes(_ id: LocalAttributeID) -> Bool { contains { $0.published == id } }

    private func inserting(_ request: Request, of peer: UUID) -> [Request] {
        let place = firstIndex { ($0.connected?.uuidString ?? "") > peer.uuidString } ?? endIndex
        return self[..<place] + [request] + self[place...]
    }

    private func inserting(_ service: Request) -> [Request] {
        let place = firstIndex(where: \.isAdvertisement) ?? endIndex
        return self[..<place] + [service] + self[place...]
    }
}

extension Request {
    /// Whether the request may change the requests to repeat.
    var changesWishes: Bool {
        switch self {
        case .central(.startScan), .central(.stopScan): true
        case .central(.peer(_, .connect)), .central(.peer(_, .cancelConnection)), .central(.peer(_, .forget)): true
        case .peripheral(.addService), .peripheral(.removeService), .peripheral(.removeAllServices): true
        case .peripheral(.startAdvertising), .peripheral(.stopAdvertising): true
        case .central, .peripheral, .channel: false
        }
    }

    /// Whether a manager with this role may have to repeat this request.
    func isWish(of role: ManagerRole) -> Bool {
        switch role {
        case .central: isScan || connected != nil
        case .peripheral: isAdvertisement || published != nil
        }
    }

    fileprivate var isScan: Bool {
        if case .central(.startScan) = self { true } else { false }
    }

    fileprivate var isAdvertisement: Bool {
        if case .peripheral(.startAdvertising) = self { true } else { false }
    }

    /// The peer of a connection request.
    fileprivate var connected: UUID? {
        if case .central(.peer(let peer, .connect)) = self { peer } else { nil }
    }

    /// The ID of the service to publish.
    fileprivate var published: LocalAttributeID? {
        if case .peripheral(.addService(let service)) = self { service.id } else { nil }
    }
}

extension Event {
    /// Whether the event may mean that a request to repeat has ended or failed.
    var endsWishes: Bool {
        switch self {
        case .stateChanged: true
        case .central(.peer(_, .disconnected)), .central(.peer(_, .connectionFailed)): true
        case .peripheral(.serviceAdded(_, let error)): error != nil
        case .peripheral(.advertisingStarted(let error, _)): error != nil
        case .central, .peripheral, .channel: false
        }
    }
}

extension ManagerRecord {
    /// Returns the restoration event of a manager that is restored before the radio is on. No peer is connected or
    /// subscribed yet (behaviours 10.3, 10.10).
    func restored(_ info: (UUID) -> PeerInfo?) -> Event {
        switch role {
        case .central:
            let scan = wishes.lazy.compactMap { if case .central(.startScan(let scan)) = $0 { scan } else { nil } }
                .first
            let peers = wishes.compactMap(\.connected).compactMap(info).map { RestoredPeer(info: $0) }
            return .central(.willRestore(RestoredCentral(scan: scan, peers: peers)))
        case .peripheral:
            let services = wishes.compactMap {
                if case .peripheral(.addService(let service)) = $0 { service } else { nil }
            }
            let advertising = wishes.lazy.compactMap {
                if case .peripheral(.startAdvertising(let request)) = $0 { request } else { nil }
            }
            let state = RestoredPeripheral(services: services, subscriptions: [], advertising: advertising.first)
            return .peripheral(.willRestore(state))
        }
    }
}
