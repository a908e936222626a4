import Foundation

/// What a manager remembers for the case that its process ends with events that it has not read.
struct Inheritance {
    /// Processes in a row that end without reading the event that they were all given first; then it is given up, since it may be what
    /// they end by.
    static let maximumDeaths = 5
    /// Lost connections that are remembered (AB-G05).
    static let maximumEnded = 16

    private var lastEnded: [RestoredPeer] = []
    private var deaths = 0

    /// Peers as they were when the manager lost them.
    var ended: [UUID: RestoredPeer] { Dictionary(lastEnded.map { ($0.info.identifier, $0) }) { $1 } }

    /// The manager is about to lose a peer.
    mutating func note(_ peer: RestoredPeer) {
        lastEnded.removeAll { $0.info.identifier == peer.info.identifier }
        if lastEnded.count == Self.maximumEnded { lastEnded.removeFirst() }
        lastEnded.append(peer)
    }

    /// The process has ended.
    ///
    /// - Parameter mailbox: What it was told.
    /// - Returns: What the next process is told, and how many events nobody is told.
    mutating func processEnded(_ mailbox: EventMailbox) -> (news: UnreadNews, lost: Int) {
        let unread = mailbox.unread
        var news = UnreadNews(unread + mailbox.waiting)
        let wasGivenNews = unread.contains(where: \.isKeptUnread)
        deaths = wasGivenNews && !mailbox.hasReadNews && !news.events.isEmpty ? deaths + 1 : 0
        guard deaths == Self.maximumDeaths else { return (news, mailbox.lost) }
        deaths = 0
        news.dropFirst()
        return (news, mailbox.lost + 1)
    }
}
