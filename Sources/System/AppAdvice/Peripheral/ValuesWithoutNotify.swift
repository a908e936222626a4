import EventLoops
import Foundation
import ServiceMessages

/// 12.17: a value that changes, or that centrals read again and again, and that does not notify.
struct ValuesWithoutNotify: PeripheralDetector {
    /// The maximum number of values that are followed. Then all are forgotten.
    private static let maximumValues = 256

    private struct Value: Hashable, Sendable {
        let central: UUID
        let characteristic: LocalAttributeID
    }

    private var reads: [Value: RecentTimes] = [:]

    mutating func accept(
        _ step: PeripheralStep,
        _ picture: PeripheralPicture,
        _ context: AppContext,
        _ findings: inout Findings
    ) {
        switch step {
        case .requested(.updateValue(let id, value: _, centrals: _)):
            guard picture.characteristics[id]?.canNotify == false else { return }
            findings.add(
                .notifyingValues,
                attribute: id.rawValue,
                "updated the value of \(picture.words(id)), to which no central can subscribe"
            )
        // The first part of a value; further ones belong to the same read.
        case .told(.readRequested(transaction: _, let central, let id, offset: 0)):
            guard picture.characteristics[id]?.canNotify == false else { return }
            let value = Value(central: central.identifier, characteristic: id)
            if reads[value] == nil, reads.count >= Self.maximumValues { reads = [:] }
            guard reads[value, default: RecentTimes()].add(context.now) else { return }
            findings.add(
                .notifyingValues,
                attribute: id.rawValue,
                at: picture.characteristics[id]?.site,
                "had \(picture.words(id)) read \(AdviceThresholds.polls) times within "
                    + "\(AdviceThresholds.polling.words) by a central, which cannot subscribe to it"
            )
        // Each connection begins anew. It mostly ends with the last subscription of the central.
        case .told(.unsubscribed(let central, let id)) where !picture.isSubscribed(central.identifier, besides: id):
            reads = reads.filter { $0.key.central != central.identifier }
        case .told(.centralDisconnected(let central, _)): reads = reads.filter { $0.key.central != central }
        case .changed: reads = [:]
        default: break
        }
    }
}
