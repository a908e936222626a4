import ServiceMessages

/// An answer to the question why something happened, for the page.
struct WorldWhy: Encodable, Sendable {
    /// `packet` or `event`, and its number.
    let kind: String
    let number: UInt64
    /// From the subject back to what began it.
    private(set) var steps: [Step]
    /// The packets that it caused, the first ones.
    let effects: [UInt64]

    /// A step as the page gets it.
    struct Step: Encodable, Sendable {
        let kind: CauseStep.Kind
        let number: UInt64
        let milliseconds: Double
        let text: String?
        let reason: String?
        let section: String?
        /// The place of a call in the app, such as `HeartRateWatch.swift:37`.
        fileprivate(set) var place: String?
        fileprivate let site: CallSite?

        private enum CodingKeys: CodingKey { case kind, number, milliseconds, text, reason, section, place }

        fileprivate init(_ step: CauseStep) {
            (kind, number, text, site) = (step.kind, step.number, step.text, step.site)
            (reason, section) = (step.reason, step.section)
            milliseconds = step.time / .milliseconds(1)
        }
    }

    init(_ subject: WorldCauses.Subject, _ steps: [CauseStep], effects: [UInt64]) {
        switch subject {
        case .packet(let number): (kind, self.number) = ("packet", number)
        case .event(let number): (kind, self.number) = ("event", number)
        }
        (self.steps, self.effects) = (steps.map(Step.init), effects)
    }

    /// Returns the answer with the places of its calls. Blocks while they are looked up (`CallSites.places(of:)`).
    func located() -> WorldWhy {
        let places = CallSites.places(of: Set(steps.compactMap(\.site)))
        var answer = self
        for index in steps.indices { answer.steps[index].place = steps[index].site.flatMap { places[$0]?.description } }
        return answer
    }
}
