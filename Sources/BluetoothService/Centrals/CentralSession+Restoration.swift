import Foundation

// MARK: - Restoration

extension CentralSession {
    /// See ``ManagerSession/wishes``. A subscription ends with its connection and is no wish (behaviour 10.21).
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
