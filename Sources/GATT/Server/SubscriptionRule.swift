/// What it asks of a link to be told of a value, by how (Core Vol 3 Part C 10.3.1.1).
struct SubscriptionRule: Hashable, Sendable {
    /// What the characteristic can follow.
    var choices: ClientConfiguration
    /// What notifications ask for.
    var notification: SecurityRequirement
    /// What indications ask for.
    var indication: SecurityRequirement

    /// Whether anything is asked for.
    var isOpen: Bool { requirement(of: choices) == .none }

    /// The least that a choice can ask for.
    var least: SecurityRequirement {
        guard choices.contains(.notify) else { return indication }
        return choices.contains(.indicate) ? min(notification, indication) : notification
    }

    /// What all ways in `choice` ask for together.
    func requirement(of choice: ClientConfiguration) -> SecurityRequirement {
        max(choice.contains(.notify) ? notification : .none, choice.contains(.indicate) ? indication : .none)
    }

    /// The ways in `choice` that a link is secure enough for.
    func served(_ choice: ClientConfiguration, over security: LinkSecurity) -> ClientConfiguration {
        var served = choice
        if security.refusal(of: notification) != nil { served.remove(.notify) }
        if security.refusal(of: indication) != nil { served.remove(.indicate) }
        return served
    }
}
