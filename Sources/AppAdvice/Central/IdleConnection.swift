import BluetoothTypes
import EventLoops
import Foundation
import ServiceMessages

/// 12.9: a connection without requests, subscriptions or channels.
struct IdleConnection: CentralDetector {
    private struct Peer: Sendable {
        var idleSince: Instant
        var isReported = false
        /// The app opened a channel. Its data is not followed here.
        var hasChannel = false
    }

    /// By peer; those that are connected.
    private var peers: [UUID: Peer] = [:]

    mutating func accept(
        _ step: CentralStep,
        _ picture: CentralPicture,
        _ context: AppContext,
        _ findings: inout Findings
    ) {
        if case .passed = step { return look(picture, context.now, &findings) }
        if step.endsAll { peers = [:] }
        if let ended = step.endedPeer { peers[ended] = nil }
        if let (peer, _) = step.link { use(peer, context.now) }
        switch step.peerEvent {
        case (let peer, .connected)?: peers[peer] = Peer(idleSince: context.now)
        case (let peer, .channelOpened(psm: _, .success))?: peers[peer]?.hasChannel = true
        case (let peer, _)?: use(peer, context.now)
        default: break
        }
    }

    private mutating func use(_ peer: UUID, _ now: Instant) {
        peers[peer]?.idleSince = now
        peers[peer]?.isReported = false
    }

    private mutating func look(_ picture: CentralPicture, _ now: Instant, _ findings: inout Findings) {
        let idle = peers.filter {
            !$0.value.isReported && !$0.value.hasChannel && now - $0.value.idleSince > AdviceThresholds.idle
        }
        for id in idle.keys.sorted(by: { $0.uuidString < $1.uuidString }) where picture[id].notifying.isEmpty {
            peers[id]?.isReported = true
            findings.add(
                .idleConnection,
                peer: id,
                at: picture[id].site,
                "kept the connection to \(picture[id].words) for \(AdviceThresholds.idle.words) without a request or a "
                    + "subscription"
            )
        }
    }
}
