import EventLoops
import Foundation
import ServiceEvents
import ServiceMessages

/// Listens to the events of a Bluetooth system, and notes where its apps break good practices (chapter 12 of
/// Documentation/Behaviours.md).
///
/// A value without I/O: events in, advice out. What depends on time alone is noticed by ``advance(to:)``.
package struct Advisor: Sendable {
    /// The kinds of observations that ``accept(_:)`` needs.
    package static let kinds: Observation.Kinds = [.managers, .messages, .misuse, .practices, .state]
    /// The maximum number of apps that are followed. Others get no advice.
    package static let maximumApps = 256

    /// The apps in the order in which they appeared.
    private var apps: [(identity: AppIdentity, advisor: AppAdvisor)] = []
    private var indices: [AppIdentity: Int] = [:]
    /// The index of the app that the last event was about, which the next one is likely to be about.
    private var last = 0

    package init() {}

    /// Takes in an event. Events have to come in the order in which they happened.
    ///
    /// - Returns: The places that new advice is about.
    @discardableResult
    package mutating func accept(_ observation: Observation) -> [CallSite] {
        guard let identity = observation.subject.app else { return [] }
        return accept(
            observation.content,
            of: identity,
            observation.subject.manager,
            at: observation.time,
            from: observation.site,
            about: observation.subject.peer
        )
    }

    /// Takes in an event of a manager of an app, which need not come from a running system.
    ///
    /// - Returns: The places that new advice is about.
    @discardableResult
    package mutating func accept(
        _ content: Observation.Content,
        of identity: AppIdentity,
        _ manager: ManagerID?,
        at time: Instant,
        from site: CallSite? = nil,
        about peer: UUID? = nil
    ) -> [CallSite] {
        guard let index = index(of: identity, at: time) else { return [] }
        return apps[index].advisor.accept(content, of: manager, at: time, from: site, about: peer)
    }

    /// Takes in a value that an app is notified of.
    package mutating func count(_ value: ValueArrival) {
        guard let index = index(of: value.app, at: value.time) else { return }
        apps[index].advisor.count(value)
    }

    /// Returns the index of an app, which is added if there is room.
    private mutating func index(of identity: AppIdentity, at time: Instant) -> Int? {
        if last < apps.count, apps[last].identity == identity { return last }
        if let index = indices[identity] {
            last = index
            return index
        }
        guard apps.count < Self.maximumApps else { return nil }
        last = apps.count
        indices[identity] = last
        apps.append((identity, AppAdvisor(name: identity.name, since: time)))
        return last
    }

    /// Lets the time pass to `now`, which is not before that of the last event.
    package mutating func advance(to now: Instant) {
        for index in apps.indices { apps[index].advisor.advance(to: now) }
    }

    /// The advice so far, by app in the order in which they appeared.
    package var advice: [Advice] { apps.flatMap(\.advisor.advice) }

    /// Returns the advice that is new, or has another count, since it was last returned, with its app.
    ///
    /// - Parameter isReady: Whether to return an advice now. Others remain.
    package mutating func takeChanges(
        where isReady: (Advice) -> Bool = { _ in true }
    ) -> [(app: AppIdentity, advice: Advice)] {
        apps.indices.flatMap { index in
            apps[index].advisor.takeChanges(where: isReady).map { (apps[index].identity, $0) }
        }
    }

    /// Whether there is such an advice that ``takeChanges(where:)`` has not returned.
    func hasChanges(where condition: (Advice) -> Bool) -> Bool {
        apps.contains { $0.advisor.hasChanges(where: condition) }
    }

    /// The number of findings that were dropped, because an app had too many different ones.
    package var dropped: Int { apps.reduce(0) { $0 + $1.advisor.dropped } }
}
