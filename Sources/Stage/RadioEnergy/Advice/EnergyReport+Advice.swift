import AppAdvice
import EventLoops
import Foundation

extension EnergyReport {
    /// Returns the cost of the cause of an advice: the account of the app, and of its peer if the advice is about one.
    ///
    /// Nil if no account is about the cause alone, or if the app ran before the report begins, so that a part of its
    /// use is missing.
    package func cost(of advice: Advice) -> AdviceCost? {
        guard advice.appSince >= start - .zero, let advised = advice.use else { return nil }
        guard let use = EnergyUse(advised, advice.peer) else { return nil }
        let account = EnergyAccount(app: advice.app, use: use)
        guard let item = items.first(where: { $0.account == account }) else { return nil }
        return AdviceCost(
            of: advised,
            microampereHours: item.charge.microampereHours,
            sending: item.usage.sending,
            listening: item.usage.listening,
            isEstimate: isEstimate
        )
    }
}

extension EnergyUse {
    /// Creates the use that an advice is about; nil without the peer that it needs.
    fileprivate init?(_ use: AdvisedUse, _ peer: UUID?) {
        switch (use, peer) {
        case (.scanning, _): self = .scanning
        case (.advertising, _): self = .advertising
        case (.link, let peer?): self = .link(peer)
        case (.discovery, let peer?): self = .operation(.discovery, peer)
        case (.reads, let peer?): self = .operation(.reading, peer)
        default: return nil
        }
    }
}
