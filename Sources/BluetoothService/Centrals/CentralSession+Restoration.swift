import BluetoothTypes
import Foundation

// MARK: - Restoration

extension CentralSession {
    /// See ``ManagerSession/wishes``. Subscriptions are left out: they end with their connection (behaviour 10.21).
    var wishes: [Request] {
        let scan = scanRequest.map { Request.central(.startScan($0)) }
        return [scan].compactMap { $0 }
            + peersInUse.map { .central(.peer($0, .connect(connectOptions(of: $0)))) }
    }

    /// See ``ManagerSession/resume(_:)``.
    func resume(_ wishes: [Request]) {
        guard !wishes.isEmpty else { return }
        for wish in wishes { handle(wish) }
    }

    /// See ``ManagerSession/preserve()``.
    func preserve() -> Event {
        forgetWatch()
        let peers = restoredPeers(room: ServiceLimits.restoredServiceOctets)
        return .central(.willRestore(RestoredCentral(scan: scanRequest, peers: peers)))
    }

    /// Returns the peripherals in use, for another process of the app. The state has to fit in one message: once `room`
    /// octets are used up, peripherals are listed without their services.
    func restoredPeers(room: Int) -> [RestoredPeer] {
        var room = room
        return peersInUse.compactMap { peer -> RestoredPeer? in
            guard let info = system.peers[peer]?.info else { return nil }
            guard let (link, user) = renewUse(of: peer) else { return RestoredPeer(info: info) }
            var restored = link.restored(for: user, info)
            let octets = restored.encoded().count
            if octets > room { restored.services = [] } else { room -= octets }
            return restored
        }
    }

    /// Called when a link is about to end. Keeps the state of the link, which is restored if the process ends before it
    /// has processed the disconnection.
    func linkEnds(_ link: PeerLink, _ user: Attachment) {
        guard manager.options.restoreIdentifier != nil, let info = system.peers[link.peer]?.info else { return }
        var restored = link.restored(for: user, info)
        if restored.encoded().count > ServiceLimits.endedServiceOctets { restored.services = [] }
        manager.inheritance.note(restored)
    }
}
