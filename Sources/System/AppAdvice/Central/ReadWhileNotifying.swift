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

    /// The subscribed values that the app has by a read. Those that it has by a notification are in
    /// ``CentralPicture/Peer/arrivals``. Each subscription begins anew.
    private var present: Set<Value> = []

    mutating func accept(
        _ step: CentralStep,
        _ picture: CentralPicture,
        _ context: AppContext,
        _ findings: inout Findings
    ) {
        if case (let peer, .notifyStateChanged(let handle, isNotifying: _, _))? = step.peerEvent {
            present.remove(Value(peer: peer, handle: handle))
        }
        guard case (let id, .readCharacteristic(let handle))? = step.link else { return }
        let (peer, value) = (picture[id], Value(peer: id, handle: handle))
        guard peer.notifying.contains(handle) else { return }
        guard present.contains(value) || peer.arrivals[handle] != nil else { return insert(value) }
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
