import BluetoothTypes

/// The security of one link, now and at its earlier moments: the only record of it.
///
/// The connection owns it, because the connection counts the moments. The protocols above get a reference from their
/// channels, and ask it what held since the data at hand began to arrive; none of them keeps a copy. The history
/// outlasts the link, so that what is left to do for a closed link is judged by its last security.
package final class LinkHistory {
    /// The current moment of the link, which is also the moment of the PDU being received: a link receives one at a
    /// time.
    package private(set) var moment = LinkMoment.first
    private var securities = SecurityHistory(LinkSecurity())
    // The moment of the last change of encryption; nil before the first one.
    private var encryptionChange: LinkMoment?

    /// Creates the history of a link that has received nothing and is not protected.
    package init() {}

    package var linkSecurity: LinkSecurity { securities.now }

    /// Returns the weakest security since `moment`: that of data which began to arrive then.
    package func linkSecurity(since moment: LinkMoment) -> LinkSecurity { securities.weakest(since: moment) }

    package func isUnchanged(since moment: LinkMoment) -> Bool { securities.isUnchanged(since: moment) }

    /// Whether encryption was neither turned on or off nor given another key since `moment`.
    package func isEncryptionUnchanged(since moment: LinkMoment) -> Bool {
        encryptionChange.map { $0 < moment } ?? true
    }

    /// Records that another PDU begins to arrive.
    func advance() { moment.advance() }

    /// Records that everything that begins to arrive from now on arrives under `new`.
    ///
    /// - Returns: Whether that differs from the security so far.
    func change(to new: LinkSecurity) -> Bool {
        guard new != linkSecurity else { return false }
        securities.change(to: new, at: moment)
        return true
    }

    /// Records that the controller has reported a change of encryption.
    func encryptionChanged() { encryptionChange = moment }
}

/// The security of a link, now and since the arrival of the oldest data still being processed.
///
/// Data has the rights of the weakest security that the link has had since the data began to arrive. Octets that
/// arrived unencrypted may come from an attacker, and encryption that starts later does not make them the peer's
/// (AB-L08). Conversely, what was permitted then may no longer be (AB-A02).
struct SecurityHistory: Sendable {
    private struct Change {
        /// The last moment at which the earlier security applied.
        var until: LinkMoment
        var weakest: LinkSecurity
    }

    /// The maximum number of changes kept apart. Older ones merge into their weakest, so that forgetting never grants
    /// rights.
    static let maximumChanges = 8

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

    func isUnchanged(since moment: LinkMoment) -> Bool {
        lastChange.map { $0 < moment } ?? true
    }

    func weakest(since moment: LinkMoment) -> LinkSecurity {
        if isUnchanged(since: moment) { return now }
        return past.first { moment <= $0.until }?.weakest ?? now
    }
}

/// A point in the receive order of a link: the number of PDUs that had begun to arrive.
///
/// A PDU has the moment at which it began, however long the rest of it took. ``LinkHistory`` records the moments of
/// security changes, so that each PDU can be judged by the security that it arrived under, without any coordination.
package struct LinkMoment: Hashable, Sendable, Comparable {
    private var begun: UInt64 = 0

    /// The moment before anything has arrived.
    package static let first = LinkMoment()

    package mutating func advance() {
        begun += 1
    }

    package static func < (a: LinkMoment, b: LinkMoment) -> Bool { a.begun < b.begun }
}
