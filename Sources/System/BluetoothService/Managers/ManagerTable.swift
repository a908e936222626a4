import Foundation
import ServiceMessages

/// The managers of all apps, the oldest first, and what each has of the resources that they share. Used on the loop
/// only.
final class ManagerTable {
    struct Entry {
        let key: ManagerKey
        let app: AppIdentity
        let session: any ManagerSession
    }

    private(set) var entries: [Entry] = []
    /// The number of managers by app, for the quota that every new manager is checked against.
    private var counts: [AppIdentity: Int] = [:]
    private var lastNumber: UInt64 = 0

    /// The apps that have managers. An app occurs once for each of its managers.
    var apps: [AppIdentity] { entries.map(\.app) }

    /// Returns the managers of one kind, the oldest first.
    func sessions<Session>(as kind: Session.Type = Session.self) -> [Session] {
        entries.compactMap { $0.session as? Session }
    }

    var countsByApp: [(app: AppIdentity, count: Int)] { counts.map { ($0.key, $0.value) } }

    /// Returns a key that no manager has had before.
    func nextKey() -> ManagerKey {
        lastNumber += 1
        return ManagerKey(number: lastNumber)
    }

    func add(_ session: any ManagerSession, _ key: ManagerKey, of app: AppIdentity) {
        entries.append(Entry(key: key, app: app, session: session))
        counts[app, default: 0] += 1
        assert(brokenInvariant == nil, brokenInvariant ?? "")
    }

    /// The first broken invariant; nil if all hold. Checked in debug builds after each change.
    private var brokenInvariant: String? {
        guard counts.values.reduce(0, +) == entries.count else { return "the counts of managers do not add up" }
        return Set(entries.map(\.key)).count == entries.count ? nil : "two managers have one key"
    }

    /// Removes a manager.
    ///
    /// - Returns: Its app, or nil if the table does not have the manager.
    func remove(_ session: any ManagerSession) -> AppIdentity? {
        guard let index = entries.firstIndex(where: { $0.session === session }) else { return nil }
        let app = entries.remove(at: index).app
        counts[app] = counts[app].flatMap { $0 > 1 ? $0 - 1 : nil }
        assert(brokenInvariant == nil, brokenInvariant ?? "")
        return app
    }

    func session(_ key: ManagerKey) -> (any ManagerSession)? {
        entries.first { $0.key == key }?.session
    }

    /// Returns the managers of an app, the oldest first.
    func sessions(of app: AppIdentity) -> [any ManagerSession] {
        entries.filter { $0.app == app }.map(\.session)
    }

    /// Returns the number of L2CAP channels that the managers of an app have to a peer.
    func channels(of app: AppIdentity, to peer: UUID) -> Int {
        sessions(of: app).reduce(0) { $0 + $1.manager.channels.count(to: peer) }
    }

    // MARK: Shared resources

    /// Returns how much of a shared resource the managers of each app have.
    private func holdings(_ held: KeyPath<Holdings, Int>) -> [(app: AppIdentity, count: Int)] {
        entries.map { ($0.app, $0.session.holdings[keyPath: held]) }
    }

    /// Returns why a manager may not have `count` more of the resource called `name`, or nil if it may.
    func refusal(
        of count: Int = 1,
        _ name: String,
        _ quota: Quota,
        _ held: KeyPath<Holdings, Int>,
        for manager: AppManager
    ) -> ServiceError? {
        guard let app = manager.subject.app else { return nil }
        return quota.refusal(of: count, name, for: app, beside: holdings(held))
    }

    /// Returns how many more L2CAP channels an app may have.
    func roomForChannels(of app: AppIdentity) -> Int {
        ServiceLimits.sharedChannels.room(for: app, beside: holdings(\.channels)).count
    }
}
