import BluetoothTypes
import EventLoops
import Foundation
import ServiceMessages

/// 12.5: a discovery of everything, most of which is not used before the connection ends.
struct WideDiscovery: CentralDetector {
    private static let maximumPeers = 64
    fileprivate static let maximumAttributes = 256

    private struct Peer: Sendable {
        /// The app's last request for services named none.
        var asksForAllServices = false
        /// The services for all of whose characteristics the app has asked.
        var wideServices: Set<AttributeHandle> = []
        /// Services, and values of characteristics, that were found by a wide request. True if the app has used them.
        var services: [AttributeHandle: Bool] = [:]
        var characteristics: [AttributeHandle: Bool] = [:]
        /// The places of the calls that discovered all services, and all characteristics.
        var sites: [String: CallSite] = [:]
    }

    private var peers: [UUID: Peer] = [:]

    mutating func accept(_ step: CentralStep, _ picture: CentralPicture, _ findings: inout Findings) {
        if let (peer, request) = step.link { accept(request, peer, findings.site) }
        if let (peer, event) = step.peerEvent { accept(event, peer) }
        if let peer = step.endedPeer { end(peer, picture, &findings) }
        guard step.endsAll else { return }
        for peer in peers.keys.sorted(by: { $0.uuidString < $1.uuidString }) { end(peer, picture, &findings) }
    }

    private mutating func accept(_ request: LinkRequest, _ id: UUID, _ site: CallSite?) {
        switch request {
        case .discoverServices(let uuids):
            guard peers[id] != nil || peers.count < Self.maximumPeers else { return }
            peers[id, default: Peer()].asksForAllServices = uuids == nil
            if uuids == nil { peers[id]?.sites["service"] = site }
        case .discoverCharacteristics(of: let service, let uuids):
            peers[id]?.services.use(service)
            guard uuids == nil else { return _ = peers[id]?.wideServices.remove(service) }
            peers[id]?.wideServices.insert(service)
            peers[id]?.sites["characteristic"] = site
        case .discoverIncludedServices(of: let service, _): peers[id]?.services.use(service)
        case .discoverDescriptors(of: let handle), .readCharacteristic(let handle),
            .writeCharacteristic(let handle, value: _), .writeWithoutResponse(let handle, value: _),
            .setNotify(let handle, isEnabled: _):
            peers[id]?.characteristics.use(handle)
        default: break
        }
    }

    private mutating func accept(_ event: PeerEvent, _ id: UUID) {
        guard let peer = peers[id] else { return }
        switch event {
        case .servicesDiscovered(.success(let found)) where peer.asksForAllServices:
            peers[id]?.services.learn(found.map(\.handle))
        case .characteristicsDiscovered(of: let service, .success(let found)) where peer.wideServices.contains(service):
            peers[id]?.characteristics.learn(found.map(\.handle))
        default: break
        }
    }

    private mutating func end(_ id: UUID, _ picture: CentralPicture, _ findings: inout Findings) {
        guard let peer = peers.removeValue(forKey: id) else { return }
        for (kind, found) in [("service", peer.services), ("characteristic", peer.characteristics)] {
            let used = found.values.count { $0 }
            // Of a single one, nothing could have been left out.
            guard found.count > 1, Double(used) < AdviceThresholds.usedPart * Double(found.count) else { continue }
            findings.add(
                .narrowDiscovery,
                peer: id,
                attribute: kind == "service" ? 0 : 1,
                at: peer.sites[kind],
                "discovered all of \(count(found.count, kind)) of \(picture[id].words), and used \(used)"
            )
        }
    }
}

extension [AttributeHandle: Bool] {
    /// Adds handles that are not used so far, if there is room.
    fileprivate mutating func learn(_ handles: [AttributeHandle]) {
        for handle in handles where count < WideDiscovery.maximumAttributes && self[handle] == nil {
            self[handle] = false
        }
    }

    fileprivate mutating func use(_ handle: AttributeHandle) {
        if self[handle] != nil { self[handle] = true }
    }
}
