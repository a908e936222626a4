import Foundation
import ServiceMessages

/// The state that a manager keeps for the case that its process ends with unread events.
struct Inheritance {
    /// The number of consecutive processes that may end without reading the event that each received first. That event
    /// is then dropped, since it may be the cause.
    static let maximumDeaths = 5
    /// The number of lost connections that are remembered (AB-G05).
    static let maximumEnded = 16

    private var lastEnded: [RestoredPeer] = []
    private var deaths = 0

    /// Peers as they were when the manager lost them.
    var ended: [UUID: RestoredPeer] { Dictionary(lastEnded.map { ($0.info.identifier, $0) }) { $1 } }

    mutating func note(_ peer: RestoredPeer) {
        lastEnded.removeAll { $0.info.identifier == peer.info.identifier }
        if lastEnded.count == Self.maximumEnded { lastEnded.removeFirst() }
        lastEnded.append(peer)
    }

    /// Called when the process has ended.
    ///
    /// - Parameter mailbox: The mailbox of the process.
    /// - Returns: The events for the next process, and the number of events lost.
    mutating func processEnded(_ mailbox: EventMailbox) -> (news: UnreadEvents, lost: Int) {
        let unread = mailbox.unread
        var news = UnreadEvents(unread + mailbox.waiting)
        let wasGivenNews = unread.contains(where: \.isKeptUnread)
        deaths = wasGivenNews && !mailbox.hasReadNews && !news.events.isEmpty ? deaths + 1 : 0
        guard deaths == Self.maximumDeaths else { return (news, mailbox.lost) }
        deaths = 0
        news.dropFirst()
        return (news, mailbox.lost + 1)
    }
}
