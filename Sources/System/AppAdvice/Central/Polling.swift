import BluetoothTypes
import EventLoops
import Foundation
import ServiceMessages

/// 12.6: reads again and again of a value that can notify.
struct Polling: CentralDetector {
    /// The maximum number of values that are followed. Then all are forgotten.
    private static let maximumValues = 256

    private struct Value: Hashable, Sendable {
        let peer: UUID
        let handle: AttributeHandle
    }

    private var reads: [Value: RecentTimes] = [:]

    mutating func accept(
        _ step: CentralStep,
        _ picture: CentralPicture,
        _ context: AppContext,
        _ findings: inout Findings
    ) {
        if step.endsAll { reads = [:] }
        if let ended = step.endedPeer { reads = reads.filter { $0.key.peer != ended } }
        guard case (let id, .readCharacteristic(let handle))? = step.link else { return }
        let peer = picture[id]
        // While it notifies, 12.8 applies.
        guard peer.characteristics[handle]?.canNotify == true, !peer.notifying.contains(handle) else { return }
        let value = Value(peer: id, handle: handle)
        if reads[value] == nil, reads.count >= Self.maximumValues { reads = [:] }
        guard reads[value, default: RecentTimes()].add(context.now) else { return }
        findings.add(
            .subscribeRatherThanPoll,
            peer: id,
            attribute: UInt32(handle),
            "read \(peer.words(handle)) of \(peer.words) \(AdviceThresholds.polls) times within "
                + "\(AdviceThresholds.polling.words), although it can notify"
        )
    }
}
