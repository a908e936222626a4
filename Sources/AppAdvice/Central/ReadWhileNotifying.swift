import BluetoothTypes
import Foundation
import ServiceMessages

/// 12.8: a read of a value that notifies. The first read after subscribing is right: it has the value until the next
/// notification.
struct ReadWhileNotifying: CentralDetector {
    private struct Value: Hashable, Sendable {
        let peer: UUID
        let handle: AttributeHandle
    }

    /// The maximum number of subscriptions that are followed. Then all are forgotten.
    private static let maximumValues = 256

    /// The subscribed values that the app has, by a notification or a read. Each subscription begins anew.
    private var present: Set<Value> = []

    mutating func accept(
        _ step: CentralStep,
        _ picture: CentralPicture,
        _ context: AppContext,
        _ findings: inout Findings
    ) {
        switch step.peerEvent {
        case (let peer, .notifyStateChanged(let handle, isNotifying: _, _))?:
            present.remove(Value(peer: peer, handle: handle))
        case (let peer, .valueNotified(let handle, _))?: insert(Value(peer: peer, handle: handle))
        default: break
        }
        guard case (let id, .readCharacteristic(let handle))? = step.link else { return }
        let (peer, value) = (picture[id], Value(peer: id, handle: handle))
        guard peer.notifying.contains(handle) else { return }
        guard present.contains(value) else { return insert(value) }
        findings.add(
            .readWhileNotifying,
            peer: id,
            attribute: UInt32(handle),
            "read \(peer.words(handle)) of \(peer.words) while it was subscribed to it"
        )
    }

    private mutating func insert(_ value: Value) {
        if !present.contains(value), present.count >= Self.maximumValues { present = [] }
        present.insert(value)
    }
}
