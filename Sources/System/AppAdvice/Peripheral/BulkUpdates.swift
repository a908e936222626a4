import Foundation
import ServiceMessages

/// 12.22: large data to or from one central by attributes.
struct BulkUpdates: PeripheralDetector {
    /// The maximum number of centrals that are followed. Then all are forgotten.
    private static let maximumCentrals = 64

    /// The octets so far, by central; until its last subscription ends.
    private var octets: [UUID: Int] = [:]

    mutating func accept(
        _ step: PeripheralStep,
        _ picture: PeripheralPicture,
        _ context: AppContext,
        _ findings: inout Findings
    ) {
        switch step {
        case .requested(.updateValue(let id, value: let value, centrals: let chosen)):
            let subscribers = picture.characteristics[id]?.subscribers ?? []
            for central in chosen.map({ subscribers.intersection($0) }) ?? subscribers {
                add(value.count, central, &findings)
            }
        case .told(.writeRequested(transaction: _, let central, let writes, needsResponse: _)):
            add(writes.reduce(0) { $0 + $1.value.count }, central.identifier, &findings)
        // The last subscription of a central mostly ends with its connection.
        case .told(.unsubscribed(let central, let id)) where !picture.isSubscribed(central.identifier, besides: id):
            octets[central.identifier] = nil
        case .changed: octets = [:]
        default: break
        }
    }

    private mutating func add(_ number: Int, _ central: UUID, _ findings: inout Findings) {
        if octets[central] == nil, octets.count >= Self.maximumCentrals { octets = [:] }
        let old = octets[central, default: 0]
        octets[central] = old + number
        guard old < AdviceThresholds.bulk, old + number >= AdviceThresholds.bulk else { return }
        findings.add(
            .bulkOverChannels,
            peer: central,
            "moved more than \(AdviceThresholds.bulk / 1_000) kB as values of attributes in one connection"
        )
    }
}
