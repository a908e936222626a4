import BluetoothTypes
import EventLoops
import Foundation
import ServiceMessages

/// 12.13: the same call again while it is in force.
struct RepeatedCalls: CentralDetector {
    mutating func accept(_ step: CentralStep, _ picture: CentralPicture, _ findings: inout Findings) {
        switch step {
        case .requested(.startScan(let scan)) where picture.scan?.request == scan:
            findings.add(.callOnce, "started the same scan again while it was running")
        case .requested(.peer(let id, .connect)) where picture[id].link == .pending:
            findings.add(.callOnce, peer: id, "connected to \(picture[id].words) again while it was connecting")
        default: break
        }
    }
}

/// 12.12: a peripheral that is released while it connects or is connected, which ends the connection (behaviour 3.5).
/// 12.27: the same right after the peripheral was restored.
struct ReleasedPeripheral: CentralDetector {
    private var restored: (peers: Set<UUID>, at: Instant)?

    mutating func accept(_ step: CentralStep, _ picture: CentralPicture, _ findings: inout Findings) {
        switch step {
        case .delivered(.willRestore(let state)): restored = (Set(state.peers.map(\.info.identifier)), findings.now)
        case .requested(.peer(let id, .forget)): released(id, picture[id], &findings)
        default: break
        }
    }

    private func released(_ id: UUID, _ peer: CentralPicture.Peer, _ findings: inout Findings) {
        guard peer.link != .none else { return }
        if let restored, restored.peers.contains(id), findings.now - restored.at <= AdviceThresholds.restoration {
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

/// 12.10: a connection that is cancelled with subscriptions in force.
struct CancelWhileNotifying: CentralDetector {
    mutating func accept(_ step: CentralStep, _ picture: CentralPicture, _ findings: inout Findings) {
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

/// 12.9: a connection without requests, subscriptions or channels. ``CentralPicture`` has the time of the last use.
struct IdleConnection: CentralDetector {
    private struct Peer: Sendable {
        /// When it was reported. It is idle again only after a later use.
        var reported: Instant?
        /// The app opened a channel. Its data is not followed here.
        var hasChannel = false
    }

    /// By peer; those that are connected.
    private var peers: [UUID: Peer] = [:]
    /// No connection is idle for too long before this; nil without connections.
    private var due: Instant?

    mutating func accept(_ step: CentralStep, _ picture: CentralPicture, _ findings: inout Findings) {
        if case .passed = step { return evaluate(picture, &findings) }
        if step.endsAll { peers = [:] }
        if let ended = step.endedPeer { peers[ended] = nil }
        switch step.peerEvent {
        case (let peer, .connected)?:
            peers[peer] = Peer()
            due = due ?? findings.now + AdviceThresholds.idle
        case (let peer, .channelOpened(psm: _, .success))?: peers[peer]?.hasChannel = true
        default: break
        }
    }

    private mutating func evaluate(_ picture: CentralPicture, _ findings: inout Findings) {
        let now = findings.now
        guard let due, now > due else { return }
        var next: Instant?
        defer { self.due = next }
        for id in peers.keys.sorted(by: { $0.uuidString < $1.uuidString }) {
            guard let state = peers[id], let peer = picture.peers[id], !state.hasChannel else { continue }
            // A peer that is used is idle later than that. Others are looked at again after as long a time, within
            // which they are not idle anew.
            let isIdle = now - peer.lastUse > AdviceThresholds.idle
            let again = (isIdle ? now : peer.lastUse) + AdviceThresholds.idle
            next = min(next ?? again, again)
            guard isIdle, state.reported.map({ $0 <= peer.lastUse }) ?? true, peer.notifying.isEmpty else { continue }
            peers[id]?.reported = now
            findings.add(
                .idleConnection,
                peer: id,
                at: peer.site,
                "kept the connection to \(peer.words) for \(AdviceThresholds.idle.words) without a request or a "
                    + "subscription"
            )
        }
    }
}
