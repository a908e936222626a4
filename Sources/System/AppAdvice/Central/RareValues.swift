import BluetoothTypes
import EventLoops
import Foundation
import ServiceMessages

/// 12.7: a subscription that brings hardly any values.
struct RareValues: CentralDetector {
    private struct Value: Hashable, Sendable {
        let peer: UUID
        let handle: AttributeHandle

        /// So that the same events give the same advice.
        var order: (String, AttributeHandle) { (peer.uuidString, handle) }
    }

    /// The maximum number of subscriptions that are followed.
    private static let maximumValues = 256

    /// When each subscription began, or was reported. ``CentralPicture/Peer/arrivals`` has the values since then.
    private var quietSince: [Value: Instant] = [:]
    /// No subscription is quiet for too long before this; nil without subscriptions.
    private var due: Instant?

    mutating func accept(
        _ step: CentralStep,
        _ picture: CentralPicture,
        _ context: AppContext,
        _ findings: inout Findings
    ) {
        if case .passed = step { return look(picture, context.now, &findings) }
        if step.endsAll { quietSince = [:] }
        if let ended = step.endedPeer { quietSince = quietSince.filter { $0.key.peer != ended } }
        guard case (let peer, let event)? = step.peerEvent else { return }
        switch event {
        case .notifyStateChanged(let handle, isNotifying: true, nil):
            guard quietSince.count < Self.maximumValues else { return }
            quietSince[Value(peer: peer, handle: handle)] = context.now
            due = due ?? context.now + AdviceThresholds.rareValues
        case .notifyStateChanged(let handle, isNotifying: false, _): quietSince[Value(peer: peer, handle: handle)] = nil
        default: break
        }
    }

    private mutating func look(_ picture: CentralPicture, _ now: Instant, _ findings: inout Findings) {
        guard let due, now > due else { return }
        for value in quietSince.keys {
            guard let arrival = picture.peers[value.peer]?.arrivals[value.handle] else { continue }
            if let since = quietSince[value], arrival > since { quietSince[value] = arrival }
        }
        let quiet = quietSince.filter { now - $0.value > AdviceThresholds.rareValues }
        defer { self.due = quietSince.values.min().map { $0 + AdviceThresholds.rareValues } }
        for value in quiet.keys.sorted(by: { $0.order < $1.order }) {
            // Counted again after another such time.
            quietSince[value] = now
            let peer = picture[value.peer]
            findings.add(
                .rareValues,
                peer: value.peer,
                attribute: UInt32(value.handle),
                at: peer.subscribing[value.handle],
                "was subscribed to \(peer.words(value.handle)) of \(peer.words), which had no new value for "
                    + AdviceThresholds.rareValues.words
            )
        }
    }
}
