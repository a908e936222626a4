import Foundation
import ServiceMessages

/// 12.22: large data by attributes in one connection.
struct BulkByAttributes: CentralDetector {
    /// The octets of the connection so far, by peer.
    private var octets: [UUID: Int] = [:]

    mutating func accept(
        _ step: CentralStep,
        _ picture: CentralPicture,
        _ context: AppContext,
        _ findings: inout Findings
    ) {
        if step.endsAll { octets = [:] }
        if let ended = step.endedPeer { octets[ended] = nil }
        switch (step.link, step.peerEvent) {
        case ((let peer, .writeCharacteristic(_, value: let value))?, _),
            ((let peer, .writeWithoutResponse(_, value: let value))?, _):
            add(value.count, peer, picture, &findings)
        case (_, (let peer, .valueNotified(_, let value))?), (_, (let peer, .valueRead(_, .success(let value)))?):
            add(value.count, peer, picture, &findings)
        default: break
        }
    }

    private mutating func add(_ number: Int, _ id: UUID, _ picture: CentralPicture, _ findings: inout Findings) {
        guard picture[id].link == .connected else { return }
        let old = octets[id, default: 0]
        octets[id] = old + number
        guard old < AdviceThresholds.bulk, old + number >= AdviceThresholds.bulk else { return }
        findings.add(
            .bulkOverChannels,
            peer: id,
            "moved more than \(AdviceThresholds.bulk / 1_000) kB as values of attributes in one connection with "
                + picture[id].words
        )
    }
}
