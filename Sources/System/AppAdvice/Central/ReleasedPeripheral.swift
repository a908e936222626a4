import EventLoops
import Foundation
import ServiceMessages

/// 12.12: a peripheral that is released while it connects or is connected, which ends the connection (behaviour 3.5).
/// 12.27: the same right after the peripheral was restored.
struct ReleasedPeripheral: CentralDetector {
    private var restored: (peers: Set<UUID>, at: Instant)?

    mutating func accept(
        _ step: CentralStep,
        _ picture: CentralPicture,
        _ context: AppContext,
        _ findings: inout Findings
    ) {
        switch step {
        case .told(.willRestore(let state)): restored = (Set(state.peers.map(\.info.identifier)), context.now)
        case .requested(.peer(let id, .forget)): released(id, picture[id], context.now, &findings)
        default: break
        }
    }

    private func released(_ id: UUID, _ peer: CentralPicture.Peer, _ now: Instant, _ findings: inout Findings) {
        guard peer.link != .none else { return }
        if let restored, restored.peers.contains(id), now - restored.at <= AdviceThresholds.restoration {
            return findings.add(
                .keepRestored,
                peer: id,
                at: peer.site,
                "released the CBPeripheral of \(peer.words), which willRestoreState had just brought"
            )
        }
        let state = peer.link == .pending ? "was connecting to it" : "was connected to it"
        findings.add(
            .keepObjects,
            peer: id,
            at: peer.site,
            "released the CBPeripheral of \(peer.words) while it \(state), which ended the connection"
        )
    }
}
