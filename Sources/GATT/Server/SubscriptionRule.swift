import BluetoothTypes

/// What it asks of a link to be told of a value, by how (Core Vol 3 Part C 10.3.1.1).
struct SubscriptionRule: Hashable, Sendable {
    /// What the characteristic can follow.
    var choices: ClientConfiguration
    /// What notifications ask for.
    var notification: SecurityLevel
    /// What indications ask for.
    var indication: SecurityLevel

    /// Whether anything is asked for.
    var isOpen: Bool { requirement(of: choices) == .none }

    /// The least that a choice can ask for.
    var least: SecurityLevel {
        guard choices.contains(.notify) else { return indication }
        return choices.contains(.indicate) && notification.includes(indication) ? indication : notification
    }

    /// What all ways in `choice` ask for together.
    func requirement(of choice: ClientConfiguration) -> SecurityLevel {
        let notification = choice.contains(.notify) ? notification : .none
        return choice.contains(.indicate) ? notification.joined(with: indication) : notification
    }

    /// The ways in `choice` that a link is secure enough for.
    func served(_ choice: ClientConfiguration, over security: LinkSecurity) -> ClientConfiguration {
        var served = choice
        if security.attributeRefusal(of: notification) != nil { served.remove(.notify) }
        if security.attributeRefusal(of: indication) != nil { served.remove(.indicate) }
        return served
    }
}
