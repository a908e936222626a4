import BluetoothTypes

/// The limits on a shared resource per app, per user and in total.
///
/// A user never takes the last place of another one: beyond its own limit, a user may take a place only while it has
/// fewer than are left. A user that takes as much as it can gets at most half of the total, the next one half of the
/// rest, and so on.
package struct Quota: Hashable, Sendable {
    /// The limit that was reached.
    package enum Scope: Hashable, Sendable {
        case app
        case user
        case everyone
    }

    package let app: Int
    package let user: Int
    package let total: Int

    /// Creates a quota. By default the limit per app equals that per user.
    package init(app: Int? = nil, user: Int, total: Int) {
        (self.app, self.user, self.total) = (app ?? user, user, total)
    }

    /// Returns how much more an app may have, and which limit is closest.
    ///
    /// - Parameter held: The amounts that apps have now. An app may occur repeatedly.
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

    /// Returns why a user may not take one more place of the resource called `name`, or nil if it may. The reason names
    /// the limit that was reached, and no other.
    ///
    /// - Parameters:
    ///   - users: The users that have a place, each as often as it has one.
    ///   - mayExceedShare: Whether the limit per user does not apply. Even then, the user leaves places to others.
    package func refusal(
        _ name: String,
        forUser user: UInt32,
        beside users: some Collection<UInt32>,
        mayExceedShare: Bool = false
    ) -> ServiceError? {
        let own = users.count { $0 == user }
        if own >= self.user, !mayExceedShare {
            return ServiceError(
                .outOfSpace,
                reason: "user \(user) may have \(self.user) \(name) at a time; end one first"
            )
        }
        guard own >= total - users.count else { return nil }
        let reason =
            """
            \(users.count) of the \(total) \(name) of all users are in use, \(own) of them by user \(user), and the rest is for other \
            users; end one first
            """
        return ServiceError(.outOfSpace, reason: reason)
    }

    /// Returns why an app may not have `count` more of the resource called `name`, or nil if it may.
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
            case .everyone: "too many of the \(total) \(name) shared by all users are in use"
            }
        return ServiceError(.outOfSpace, reason: "\(reason); release some first")
    }
}
