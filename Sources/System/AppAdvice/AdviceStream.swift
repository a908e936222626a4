import EventLoops
import ServiceEvents
import ServiceMessages

/// The advisor of one stream of a tool.
package final class AdviceStream: AdviceSource {
    private var advisor = Advisor()
    private let cost: (Advice) -> AdviceCost?
    private let findPlace: (CallSite) -> PlaceFinding
    /// The places that were found, which remain when their process has ended. Each belongs to an advice, whose number
    /// is bounded.
    private var found: [CallSite: String] = [:]

    /// - Parameters:
    ///   - cost: Returns what the cause of an advice has cost; nil if that is not known.
    ///   - findPlace: Returns what is known of a place in the process of an app.
    package init(
        cost: @escaping (Advice) -> AdviceCost? = { _ in nil },
        findPlace: @escaping (CallSite) -> PlaceFinding = { _ in .unknown }
    ) {
        (self.findPlace, self.cost) = (findPlace, cost)
    }

    package var kinds: Observation.Kinds { Advisor.kinds }

    package func accept(_ observation: Observation) {
        // Asked at once, since the process may end soon.
        for site in advisor.accept(observation) { _ = find(site) }
    }

    package var isWaiting: Bool { advisor.hasChanges { $0.site.map(find) == .pending } }

    private func find(_ site: CallSite) -> PlaceFinding {
        if let place = found[site] { return .found(place) }
        let finding = findPlace(site)
        if case .found(let place) = finding { found[site] = place }
        return finding
    }

    private func place(of advice: Advice) -> String? {
        guard let site = advice.site, case .found(let place) = find(site) else { return nil }
        return place
    }

    package func count(_ value: ValueArrival) { advisor.count(value) }

    package func takeNews(at now: Instant, isLast: Bool) -> [AdviceStatus] {
        advisor.advance(to: now)
        return advisor.takeChanges { isLast || $0.site.map(find) != .pending }.map { app, advice in
            var status = AdviceStatus(
                rule: advice.rule.number,
                hint: advice.isHint,
                app: app,
                time: advice.time,
                found: advice.found,
                instead: advice.instead,
                count: advice.count
            )
            status.manager = advice.manager?.name
            status.peer = advice.peer
            status.place = place(of: advice)
            status.cost = cost(advice)?.status
            return status
        }
    }
}
