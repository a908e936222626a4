import ServiceEvents

/// The cost of the cause of an advice so far: the charge and the time of a use of the radio by the app.
public struct AdviceCost: Hashable, Sendable, CustomStringConvertible {
    /// The use that the numbers are about, such as `all its scanning`.
    public let use: String
    /// The charge, in microampere hours.
    public let microampereHours: Double
    /// The time spent transmitting.
    public let sending: Duration
    /// The time spent listening.
    public let listening: Duration
    /// Whether the numbers are estimated, since the controller is a real one.
    public let isEstimate: Bool

    package init(
        of use: AdvisedUse,
        microampereHours: Double,
        sending: Duration,
        listening: Duration,
        isEstimate: Bool
    ) {
        (self.use, self.microampereHours, self.isEstimate) = (use.words, microampereHours, isEstimate)
        (self.sending, self.listening) = (sending, listening)
    }

    /// The cost as a clause.
    public var description: String { status.words }

    /// The cost as output by tools.
    var status: CostStatus {
        CostStatus(
            use: use,
            microampereHours: microampereHours,
            sendingSeconds: sending / .seconds(1),
            listeningSeconds: listening / .seconds(1),
            isEstimate: isEstimate
        )
    }
}

/// A use of the radio that a rule is about.
package enum AdvisedUse: Hashable, Sendable {
    case scanning, advertising
    /// Uses on the link to the peer of the advice.
    case link, discovery, reads

    /// The use as the subject of a clause about the app.
    fileprivate var words: String {
        switch self {
        case .scanning: "all its scanning"
        case .advertising: "all its advertising"
        case .link: "its share of the link"
        case .discovery: "all its discovery there"
        case .reads: "all its reads there"
        }
    }
}

extension Advice {
    /// The use of the radio that the app would save by doing better.
    ///
    /// Nil for rules about something else, such as a scan without services, which has the radio on for as long as one
    /// with services, or large data, of which attributes and channels need about the same air time; and if the app's
    /// other managers have a part in the use.
    package var use: AdvisedUse? {
        guard !hasRivals else { return nil }
        return switch rule {
        case .scanUntilFound, .shortScans, .retrieveKnown: .scanning
        case .narrowDiscovery: .discovery
        case .subscribeRatherThanPoll, .readWhileNotifying: .reads
        case .idleConnection: .link
        case .stopAdvertising, .userDecides: .advertising
        default: nil
        }
    }
}
