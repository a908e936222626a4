import Foundation
import ServiceMessages

/// 12.22: large data by attributes in one connection. ``CentralPicture`` counts the octets.
struct BulkByAttributes: CentralDetector {
    mutating func accept(
        _ step: CentralStep,
        _ picture: CentralPicture,
        _ context: AppContext,
        _ findings: inout Findings
    ) {
        if let (peer, request) = step.link {
            count(request.valueOctets, from: picture[peer].octets, peer, picture, &findings)
        } else if case (let peer, .valueRead(_, .success(let value)))? = step.peerEvent {
            count(value.count, from: picture[peer].octets, peer, picture, &findings)
        }
    }

    /// Takes in a number of octets after `old` others.
    func count(_ octets: Int, from old: Int, _ id: UUID, _ picture: CentralPicture, _ findings: inout Findings) {
        guard old < AdviceThresholds.bulk, old + octets >= AdviceThresholds.bulk, picture[id].link == .connected else {
            return
        }
        findings.add(
            .bulkOverChannels,
            peer: id,
            "moved more than \(AdviceThresholds.bulk / 1_000) kB as values of attributes in one connection with "
                + picture[id].words
        )
    }
}
