import Foundation
import ServiceEvents

/// Practices of accessories that a connection shows: 12.26, a bonded peer whose services could change unnoticed; 12.28,
/// a request for parameters that Apple's systems refuse (behaviour 3.27); and 12.31, an attribute table that breaks a
/// rule.
struct PeerPractices: CentralDetector {
    mutating func accept(
        _ step: CentralStep,
        _ picture: CentralPicture,
        _ context: AppContext,
        _ findings: inout Findings
    ) {
        guard case .practiced(let practice) = step, let id = context.peer else { return }
        let peer = picture[id]
        switch practice {
        case .parametersRefused(let explanation):
            findings.add(
                .allowedParameters,
                peer: id,
                at: peer.site,
                "uses \(peer.words), which requested parameters that Apple's systems refuse: \(explanation)"
            )
        case .noServiceChanged:
            findings.add(
                .groupedServices,
                peer: id,
                at: peer.site,
                "is bonded with \(peer.words), which has no Service Changed characteristic (2A05)"
            )
        case .flawedTable(let flaw):
            findings.add(
                .soundTable,
                peer: id,
                at: peer.site,
                "uses \(peer.words), whose attribute table breaks a rule: \(flaw)"
            )
        case .noted: break
        }
    }
}
