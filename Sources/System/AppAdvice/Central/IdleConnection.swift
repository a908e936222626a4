import BluetoothTypes
import EventLoops
import Foundation
import ServiceMessages

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

    mutating func accept(
        _ step: CentralStep,
        _ picture: CentralPicture,
        _ context: AppContext,
        _ findings: inout Findings
    ) {
        if case .passed = step { return look(picture, context.now, &findings) }
        if step.endsAll { peers = [:] }
        if let ended = step.endedPeer { peers[ended] = nil }
        switch step.peerEvent {
        case (let peer, .connected)?:
            peers[peer] = Peer()
            due = due ?? context.now + AdviceThresholds.idle
        case (let peer, .channelOpened(psm: _, .success))?: peers[peer]?.hasChannel = true
        default: break
        }
    }

    private mutating func look(_ picture: CentralPicture, _ now: Instant, _ findings: inout Findings) {
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
