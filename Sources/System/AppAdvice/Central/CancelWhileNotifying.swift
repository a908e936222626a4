import Foundation
import ServiceMessages

/// 12.10: a connection that is cancelled with subscriptions in force.
struct CancelWhileNotifying: CentralDetector {
    mutating func accept(
        _ step: CentralStep,
        _ picture: CentralPicture,
        _ context: AppContext,
        _ findings: inout Findings
    ) {
        guard case .requested(.peer(let id, .cancelConnection)) = step else { return }
        let peer = picture[id]
        guard let first = peer.notifying.min() else { return }
        let others = peer.notifying.count > 1 ? " and \(count(peer.notifying.count - 1, "other value"))" : ""
        findings.add(
            .unsubscribeFirst,
            peer: id,
            "cancelled the connection to \(peer.words) while it was subscribed to \(peer.words(first))\(others)"
        )
    }
}
