import Foundation
import ServiceEvents

extension Findings {
    /// Adds a practice: what the app's side noted, or what a connection shows of an accessory. 12.26, a bonded peer
    /// whose services could change unnoticed; 12.28, a request for parameters that Apple's systems refuse (behaviour
    /// 3.27); and 12.31, an attribute table that breaks a rule.
    mutating func add(_ practice: Practice, _ picture: CentralPicture) {
        if case .noted(let note) = practice { return add(note) { picture[$0].words } }
        guard let peer else { return }
        let used = picture[peer]
        switch practice {
        case .parametersRefused(let explanation):
            add(
                .allowedParameters,
                peer: peer,
                at: used.site,
                "uses \(used.words), which requested parameters that Apple's systems refuse: \(explanation)"
            )
        case .noServiceChanged:
            add(
                .groupedServices,
                peer: peer,
                at: used.site,
                "is bonded with \(used.words), which has no Service Changed characteristic (2A05)"
            )
        case .flawedTable(let flaw):
            add(
                .soundTable,
                peer: peer,
                at: used.site,
                "uses \(used.words), whose attribute table breaks a rule: \(flaw)"
            )
        case .noted: break
        }
    }
}
