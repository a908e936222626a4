import BluetoothTypes
import EventLoops
import Foundation
import ServiceMessages

/// An advice as output by tools: a line of `harald advice --json`. The names of the fields are stable. Fields without a
/// value are omitted.
package struct AdviceStatus: Codable, Hashable, Sendable {
    /// The kind of the line among those of `harald monitor --json`: `advice`.
    package var kind = "advice"
    /// The number of the rule in Documentation/Behaviours.md, for example `12.4`.
    package var rule: String
    /// Whether the sign is weak, so that the app may be right.
    package var hint: Bool
    package var app: String
    /// The user ID of the app.
    package var owner: UInt32
    /// The kind of manager, `central` or `peripheral`; nil if the advice is about the app as a whole.
    package var manager: String?
    /// The identifier that apps know the peer by, if the advice is about one.
    package var peer: UUID?
    /// The first time at which the app broke the rule, on the system's clock, in seconds.
    package var time: Double
    /// The first thing that the app did against the rule: a clause that follows its name.
    package var found: String
    /// The better way, as a sentence for the app's developer.
    package var instead: String
    /// The place in the app whose call began it, such as `Heart.swift:42`; nil if it is not known.
    package var place: String?
    /// The cost of the cause so far; nil if that is not known.
    package var cost: CostStatus?
    /// How often the app did it so far. A line with a higher number replaces an earlier one.
    package var count: Int

    package init(rule: String, hint: Bool, app: AppIdentity, time: Duration, found: String, instead: String, count: Int)
    {
        (self.rule, self.hint, self.app, self.owner) = (rule, hint, app.name, app.owner)
        (self.time, self.found, self.instead, self.count) = (Double(time.nanoseconds) / 1e9, found, instead, count)
    }

    package var line: String {
        let often = count > 1 ? " (\(count) times)" : ""
        let place = place.map { " (\($0.visible))" } ?? ""
        let cost = cost.map { "; \($0.words)" } ?? ""
        return
            "\(rule) \(app.visible) \(found.visible)\(often)\(place)\(cost). \(instead)\(hint ? " (A hint only.)" : "")"
    }
}

/// The cost of the cause of an advice: a part of ``AdviceStatus``.
package struct CostStatus: Codable, Hashable, Sendable {
    /// The use of the radio that the numbers are about, such as `all its scanning`.
    package var use: String
    package var microampereHours: Double
    package var sendingSeconds: Double
    package var listeningSeconds: Double
    /// Whether the numbers are estimated, since the controller is a real one.
    package var isEstimate: Bool

    package init(
        use: String,
        microampereHours: Double,
        sendingSeconds: Double,
        listeningSeconds: Double,
        isEstimate: Bool
    ) {
        (self.use, self.microampereHours, self.isEstimate) = (use, microampereHours, isEstimate)
        (self.sendingSeconds, self.listeningSeconds) = (sendingSeconds, listeningSeconds)
    }

    package var words: String {
        let charge = EnergyStatus.text(microampereHours)
        let time = EnergyStatus.digits(sendingSeconds + listeningSeconds)
        return "\(use.visible) cost \(charge), with the radio on for \(time) s\(isEstimate ? " (an estimate)" : "")"
    }
}

/// Follows the events of a system for one stream of advice. Used on the system's loop.
///
/// The module AppAdvice has the implementation. The service's program passes it to `BluetoothSystem.adviceSource`, so
/// that apps with a service of their own do not link it.
package protocol AdviceSource: AnyObject {
    var kinds: Observation.Kinds { get }
    func accept(_ observation: Observation)
    func count(_ value: ValueArrival)
    /// Whether there is advice whose place in the app is not known yet.
    var isWaiting: Bool { get }
    /// Returns the advice that is new, or has another count, since it was last returned.
    ///
    /// - Parameter isLast: Whether to return also the advice whose place is not known yet.
    func takeNews(at now: Instant, isLast: Bool) -> [AdviceStatus]
}

/// The state of the search for the place of a call in the process of an app.
package enum PlaceFinding: Equatable {
    case pending
    case unknown
    case found(String)
}
