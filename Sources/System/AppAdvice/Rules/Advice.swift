import Foundation
import ServiceMessages

/// Advice for the developer of an app: a good practice that the app broke, and what to do instead.
///
/// There is one advice for each cause, such as reads of one characteristic, with the number of times.
public struct Advice: Hashable, Sendable, CustomStringConvertible {
    /// The good practice that the app broke.
    public let rule: AdviceRule
    /// The name of the device that the app runs on, in a world of several.
    public package(set) var device: String?
    /// The app's bundle identifier or name.
    public let app: String
    /// The kind of manager; nil if the advice is about the app as a whole.
    public let manager: ManagerRole?
    /// The peer, if the advice is about one.
    public let peer: UUID?
    /// The first time at which the rule was broken, since the clock of the system began.
    public let time: Duration
    /// The first thing that the app did against the rule, with numbers: a clause that follows its name.
    public let found: String
    /// How often the app did it.
    public internal(set) var count = 1
    /// The place in the app whose call began what the advice is about, for example `Heart.swift:42`. Nil if there is
    /// no such call, or if the program has no names of its functions.
    public package(set) var place: CallPlace?
    /// The number of that place in the app's process, from which ``place`` is looked up.
    package internal(set) var site: CallSite?
    /// The cost of the cause so far. Nil unless the energy of the device is tracked, and if the ledger has no number
    /// that is about the cause alone.
    public package(set) var cost: AdviceCost?
    /// When the app was first seen, since the clock of the system began.
    package internal(set) var appSince = Duration.zero
    /// Whether the app has had several managers of this kind at once, whose use of the radio cannot be told apart.
    package internal(set) var hasRivals = false

    /// The better way, as a sentence for the app's developer.
    public var instead: String { rule.instead }

    /// Whether the sign is weak, so that the app may be right.
    public var isHint: Bool { rule.isHint }

    /// The advice in a line: number of the rule, device and app, what it did and where, what that cost, and what to do
    /// instead.
    public var description: String {
        let often = count > 1 ? "; this happened \(count) times" : ""
        let location = place.map { " (\($0))" } ?? ""
        let owner = device.map { "\($0): \(app)" } ?? app
        let price = cost.map { "; \($0)" } ?? ""
        return
            "\(rule.number) \(owner) \(found)\(often)\(location)\(price). \(instead)\(isHint ? " (A hint only.)" : "")"
    }
}

extension [Advice] {
    /// The advice with the places in the app, which have to be in this process. Looking up one that is new takes about
    /// a second.
    package var withPlaces: [Advice] {
        let places = CallSites.places(of: Set(compactMap(\.site)))
        return map { advice in
            var advice = advice
            advice.place = advice.site.flatMap { places[$0] }
            return advice
        }
    }
}
