import BluetoothTypes
import EventLoops

/// The most that one app, all apps of one user, and everyone together may have of something that they share.
///
/// A user never takes the last place of another: besides its own limit, a user takes a place only while it has fewer than are left. One user that
/// takes all it can gets half of the total at most, the next one half of the rest, and so on.
package struct Quota: Hashable, Sendable {
    /// Which limit is reached.
    package enum Scope: Hashable, Sendable {
        case app
        case user
        case everyone
    }

    /// The most that an app may have.
    package let app: Int
    /// The most that the apps of a user may have.
    package let user: Int
    /// The most that there may be.
    package let total: Int

    /// A quota in which an app may have as much as its user, unless `app` says otherwise.
    package init(app: Int? = nil, user: Int, total: Int) {
        (self.app, self.user, self.total) = (app ?? user, user, total)
    }

    /// How much more an app may have, and which limit comes first.
    ///
    /// - Parameter held: What apps have. An app may occur repeatedly.
    package func room(
        for identity: AppIdentity,
        beside held: some Sequence<(app: AppIdentity, count: Int)>
    ) -> (count: Int, scope: Scope) {
        var (ofApp, ofUser, taken) = (0, 0, 0)
        for (other, count) in held {
            taken += count
            if other.owner == identity.owner { ofUser += count }
            if other == identity { ofApp += count }
        }
        let rooms: [(count: Int, scope: Scope)] = [
            (app - ofApp, .app), (user - ofUser, .user), ((total - taken - ofUser + 1) / 2, .everyone),
        ]
        let least = rooms.min { $0.count < $1.count } ?? (0, .everyone)
        return (max(least.count, 0), least.scope)
    }

    /// Why an app may not have `count` more of what `name` says; nil when it may.
    package func refusal(
        of count: Int = 1,
        _ name: String,
        for identity: AppIdentity,
        beside held: some Sequence<(app: AppIdentity, count: Int)>
    ) -> ServiceError? {
        let room = room(for: identity, beside: held)
        guard count > room.count else { return nil }
        let reason =
            switch room.scope {
            case .app: "\(identity.name.quotedName) may have \(app) \(name) at a time"
            case .user: "the apps of user \(identity.owner) may have \(user) \(name) at a time"
            case .everyone: "too many of the \(total) \(name) that all users share are taken"
            }
        return ServiceError(.outOfSpace, reason: "\(reason); give some back first")
    }
}

/// What a manager has of what all managers share.
struct Holdings {
    var scans = 0
    var peers = 0
    var attributes = 0
    var publishedChannels = 0
    var channels = 0
    var advertisers = 0
}

extension BluetoothSystem {
    /// Why a manager may not have `count` more of what `name` says; nil when it may.
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

    /// How many more L2CAP channels an app may have.
    func roomForChannels(of app: AppIdentity) -> Int {
        ServiceLimits.sharedChannels.room(for: app, beside: holdings(\.channels)).count
    }

    /// Why an app may not have another manager; nil when it may. What is kept of apps that have ended gives way, the app longest out of sight
    /// first.
    func refusalOfManager(of app: AppIdentity) -> ServiceError? {
        while true {
            let quota = ServiceLimits.sharedManagers
            let (room, scope) = quota.room(for: app, beside: managersByApp)
            guard room < 1 else { return nil }
            let kept = preserved.values.filter { scope == .app ? $0.identity == app : $0.identity.owner == app.owner }
            guard let oldest = kept.min(by: { $0.life.lastInFront < $1.life.lastInFront }) else {
                return quota.refusal("managers", for: app, beside: managersByApp)
            }
            trouble("user \(app.owner) has too many managers: what is kept of \(oldest.identity.name) is given up")
            oldest.discard()
        }
    }
}
