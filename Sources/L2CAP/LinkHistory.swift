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

    /// The security of data that begins to arrive now.
    package var linkSecurity: LinkSecurity { securities.now }

    /// Returns the weakest security since `moment`: that of data which began to arrive then.
    package func linkSecurity(since moment: LinkMoment) -> LinkSecurity { securities.weakest(since: moment) }

    /// Whether the security has not changed since `moment`.
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
