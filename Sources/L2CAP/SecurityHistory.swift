import BluetoothTypes

/// The security of a link now, and as far back as anything lies that has arrived and is not dealt with.
///
/// What arrives has the rights of the weakest security that the link has had since it began to arrive: octets that came in
/// the clear may come from anybody, and no encryption that follows makes them the peer's (AB-L08); and what was allowed then
/// may be so no longer (AB-A02).
package struct SecurityHistory: Sendable {
    private struct Change {
        /// Until when an earlier security held.
        var until: LinkMoment
        /// The weakest since.
        var weakest: LinkSecurity
    }

    /// Changes that are told apart. Of what came before all of them the weakest counts, so that forgetting gives no rights.
    package static let maximumChanges = 8

    /// The security now.
    package private(set) var now: LinkSecurity
    // Oldest first.
    private var past: [Change] = []
    // When the security changed last: every packet asks for it.
    private var lastChange: LinkMoment?

    /// A link with the given security from its beginning.
    package init(_ now: LinkSecurity) {
        self.now = now
    }

    /// A link with the given security from a moment on, and with `before` until then.
    package init(_ now: LinkSecurity, before: LinkSecurity, until moment: LinkMoment) {
        self.now = now
        past = [Change(until: moment, weakest: before.limited(by: now))]
        lastChange = moment
    }

    /// The security is `new` for whatever begins to arrive after `moment`, which is the present one.
    package mutating func change(to new: LinkSecurity, at moment: LinkMoment) {
        guard new != now else { return }
        for index in past.indices { past[index].weakest = past[index].weakest.limited(by: new) }
        // Nothing has arrived under a security that changed again at once.
        if past.last?.until != moment { past.append(Change(until: moment, weakest: now.limited(by: new))) }
        now = new
        lastChange = moment
        guard past.count > Self.maximumChanges else { return }
        let oldest = past.removeFirst()
        past[0].weakest = oldest.weakest.limited(by: past[0].weakest)
    }

    /// Whether the security is the same as at `moment`.
    package func isUnchanged(since moment: LinkMoment) -> Bool {
        lastChange.map { $0 < moment } ?? true
    }

    /// The weakest security since `moment`.
    package func weakest(since moment: LinkMoment) -> LinkSecurity {
        if isUnchanged(since: moment) { return now }
        return past.first { moment <= $0.until }?.weakest ?? now
    }
}
