import Foundation

// MARK: - Restoration

extension CentralSession {
    /// See ``ManagerSession/preserve()``.
    func preserve() -> Event {
        forgetWatch()
        let wanted = peersInUse.compactMap { peer -> RestoredPeer? in
            guard let info = system.peers[peer]?.info else { return nil }
            guard let (link, user) = renewUse(of: peer) else { return RestoredPeer(info: info) }
            return RestoredPeer(
                info: info,
                maximumWriteWithoutResponse: link.maximumCommandLength,
                services: link.restored(for: user)
            )
        }
        return .central(.willRestore(RestoredCentral(scan: scanRequest, peers: wanted)))
    }
}
