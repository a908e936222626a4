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

    private var quietSince: [Value: Instant] = [:]

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
            if quietSince.count < Self.maximumValues { quietSince[Value(peer: peer, handle: handle)] = context.now }
        case .notifyStateChanged(let handle, isNotifying: false, _): quietSince[Value(peer: peer, handle: handle)] = nil
        case .valueNotified(let handle, _):
            let value = Value(peer: peer, handle: handle)
            if quietSince[value] != nil { quietSince[value] = context.now }
        default: break
        }
    }

    private mutating func look(_ picture: CentralPicture, _ now: Instant, _ findings: inout Findings) {
        let quiet = quietSince.filter { now - $0.value > AdviceThresholds.rareValues }
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
