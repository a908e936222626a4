import Foundation
import ServiceMessages

/// The wants of an app that last until it withdraws them: of a central manager a scan and connections, of a peripheral
/// manager services and an advertisement.
///
/// The manager's session carries it out, the app's record contains it, and `willRestoreState` shows it (behaviours
/// 10.3, 10.15). Subscriptions are not part of it: they end with their connection (behaviour 10.21). Nor are published
/// L2CAP channels, which the next process publishes itself.
package struct Intent: Hashable, Sendable {
    /// The scan, or nil.
    package private(set) var scan: ScanRequest?
    /// The options of each connection, by peer.
    package private(set) var connections: [UUID: ConnectOptions] = [:]
    /// The services, in the order of publishing.
    package private(set) var services: [LocalService] = []
    /// The advertisement, or nil.
    package private(set) var advertisement: AdvertisingRequest?

    package init() {}

    package init(_ requests: [Request]) {
        for request in requests { apply(request) }
    }

    /// The peers to connect to, in a stable order.
    var peers: [UUID] { connections.keys.sorted { $0.uuidString < $1.uuidString } }

    /// The requests that lead to this intent. A service comes after those that it includes.
    package var requests: [Request] {
        let scan = scan.map { [Request.central(.startScan($0))] } ?? []
        let connects = peers.compactMap { peer in
            connections[peer].map { Request.central(.peer(peer, .connect($0))) }
        }
        let advertisement = advertisement.map { [Request.peripheral(.startAdvertising($0))] } ?? []
        return scan + connects + services.map { .peripheral(.addService($0)) } + advertisement
    }

    mutating func apply(_ request: Request) {
        switch request {
        case .central(.startScan(let request)): scan = request
        case .central(.stopScan): scan = nil
        // While a connection is wanted, another request for it has no effect (behaviour 3.3).
        case .central(.peer(let peer, .connect(let options))): connections[peer] = connections[peer] ?? options
        case .central(.peer(let peer, .cancelConnection)), .central(.peer(let peer, .forget)): connections[peer] = nil
        case .peripheral(.addService(let service)): if !publishes(service.id) { services.append(service) }
        case .peripheral(.removeService(let id)): services.removeAll { $0.id == id }
        case .peripheral(.removeAllServices): services = []
        case .peripheral(.startAdvertising(let request)): advertisement = advertisement ?? request
        case .peripheral(.stopAdvertising): advertisement = nil
        case .central, .peripheral, .channel, .setup, .activity: break
        }
    }

    mutating func withdrawConnections() { connections = [:] }

    /// Returns this intent with everything in `newer` added or put in its place.
    func merged(with newer: Intent) -> Intent {
        var merged = self
        merged.scan = newer.scan ?? scan
        merged.connections.merge(newer.connections) { $1 }
        merged.services = services.map { old in newer.services.first { $0.id == old.id } ?? old }
        merged.services += newer.services.filter { !publishes($0.id) }
        merged.advertisement = newer.advertisement ?? advertisement
        return merged
    }

    private func publishes(_ id: LocalAttributeID) -> Bool { services.contains { $0.id == id } }
}

extension Request {
    /// Whether the request can change an intent. Most requests cannot, and need no comparison.
    var changesIntents: Bool {
        switch self {
        case .central(.startScan), .central(.stopScan): true
        case .central(.peer(_, .connect)), .central(.peer(_, .cancelConnection)), .central(.peer(_, .forget)): true
        case .peripheral(.addService), .peripheral(.removeService), .peripheral(.removeAllServices): true
        case .peripheral(.startAdvertising), .peripheral(.stopAdvertising): true
        case .central, .peripheral, .channel, .setup, .activity: false
        }
    }

    /// Whether the request can be part of the intent for a manager with this role.
    func isIntended(by role: ManagerRole) -> Bool {
        switch (role, self) {
        case (.central, .central(.startScan)), (.central, .central(.peer(_, .connect))): true
        case (.peripheral, .peripheral(.addService)), (.peripheral, .peripheral(.startAdvertising)): true
        case (.central, _), (.peripheral, _), (.accessorySetup, _), (.activities, _): false
        }
    }
}
