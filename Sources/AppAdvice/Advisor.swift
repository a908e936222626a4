import BluetoothService
import CallSites
import EventLoops
import Foundation
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

    private var apps: [AppIdentity: AppAdvisor] = [:]
    private var order: [AppIdentity] = []

    /// Creates an advisor that has seen nothing.
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
        if apps[identity] == nil {
            guard order.count < Self.maximumApps else { return [] }
            apps[identity] = AppAdvisor(name: identity.name, since: time)
            order.append(identity)
        }
        return apps[identity]?.accept(content, of: manager, at: time, from: site, about: peer) ?? []
    }

    /// Lets the time pass to `now`, which is not before that of the last event.
    package mutating func advance(to now: Instant) {
        for app in order { apps[app]?.advance(to: now) }
    }

    /// The advice so far, by app in the order in which they appeared.
    package var advice: [Advice] { order.flatMap { apps[$0]?.advice ?? [] } }

    /// Returns the advice that is new, or has another count, since it was last returned, with its app.
    ///
    /// - Parameter isReady: Whether to return an advice now. Others remain.
    package mutating func takeChanges(
        where isReady: (Advice) -> Bool = { _ in true }
    ) -> [(app: AppIdentity, advice: Advice)] {
        order.flatMap { app in (apps[app]?.takeChanges(where: isReady) ?? []).map { (app, $0) } }
    }

    /// Whether there is such an advice that ``takeChanges(where:)`` has not returned.
    func hasChanges(where condition: (Advice) -> Bool) -> Bool {
        order.contains { apps[$0]?.hasChanges(where: condition) == true }
    }

    /// The number of findings that were dropped, because an app had too many different ones.
    package var dropped: Int { apps.values.reduce(0) { $0 + $1.dropped } }
}
