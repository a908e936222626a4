import BluetoothTypes

/// The link security that subscriptions to a value require, for notifications and indications (Core Vol 3 Part C
/// 10.3.1.1).
struct SubscriptionRule: Hashable, Sendable {
    /// The configurations that the characteristic supports.
    var choices: ClientConfiguration
    /// The security that notifications require.
    var notification: SecurityLevel
    /// The security that indications require.
    var indication: SecurityLevel

    /// Whether no subscription requires any security.
    var isOpen: Bool { requirement(of: choices) == .none }

    /// The weaker of the requirements of the supported configurations.
    var least: SecurityLevel {
        guard choices.contains(.notify) else { return indication }
        return choices.contains(.indicate) && notification.includes(indication) ? indication : notification
    }

    /// The security that the configuration requires as a whole.
    func requirement(of choice: ClientConfiguration) -> SecurityLevel {
        let notification = choice.contains(.notify) ? notification : .none
        return choice.contains(.indicate) ? notification.joined(with: indication) : notification
    }

    /// The part of a configuration for which a link is secure enough.
    func served(_ choice: ClientConfiguration, over linkSecurity: LinkSecurity) -> ClientConfiguration {
        var served = choice
        if linkSecurity.attributeRefusal(of: notification) != nil { served.remove(.notify) }
        if linkSecurity.attributeRefusal(of: indication) != nil { served.remove(.indicate) }
        return served
    }
}
