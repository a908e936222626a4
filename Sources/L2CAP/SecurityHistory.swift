import BluetoothTypes

/// The security of a link, now and since the arrival of the oldest data still being processed.
///
/// Data has the rights of the weakest security that the link has had since the data began to arrive. Octets that
/// arrived unencrypted may come from an attacker, and encryption that starts later does not make them the peer's
/// (AB-L08). Conversely, what was permitted then may no longer be (AB-A02).
struct SecurityHistory: Sendable {
    private struct Change {
        /// The last moment at which the earlier security applied.
        var until: LinkMoment
        /// The weakest security since.
        var weakest: LinkSecurity
    }

    /// The maximum number of changes kept apart. Older ones merge into their weakest, so that forgetting never grants
    /// rights.
    static let maximumChanges = 8

    /// The security of data that begins to arrive now.
    private(set) var now: LinkSecurity
    // The earlier levels of security, oldest first.
    private var past: [Change] = []
    // The moment of the last change, cached because every packet needs it.
    private var lastChange: LinkMoment?

    /// Creates the history of a link that has had the given security from the start.
    init(_ now: LinkSecurity) {
        self.now = now
    }

    /// Records that everything that begins to arrive after `moment`, the current one, arrives under `new`.
    mutating func change(to new: LinkSecurity, at moment: LinkMoment) {
        guard new != now else { return }
        for index in past.indices { past[index].weakest = past[index].weakest.limited(by: new) }
        // If the security changed twice at the same moment, nothing arrived in between.
        if past.last?.until != moment { past.append(Change(until: moment, weakest: now.limited(by: new))) }
        now = new
        lastChange = moment
        guard past.count > Self.maximumChanges else { return }
        let oldest = past.removeFirst()
        past[0].weakest = oldest.weakest.limited(by: past[0].weakest)
    }

    /// Whether the security has not changed since `moment`.
    func isUnchanged(since moment: LinkMoment) -> Bool {
        lastChange.map { $0 < moment } ?? true
    }

    /// Returns the weakest security since `moment`.
    func weakest(since moment: LinkMoment) -> LinkSecurity {
        if isUnchanged(since: moment) { return now }
        return past.first { moment <= $0.until }?.weakest ?? now
    }
}
