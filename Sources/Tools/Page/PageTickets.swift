import EventLoops

/// The downloads that pages have asked for. Each is served once, at an address that only the asking page knows, because
/// a browser saves a file by a request that carries no token (AB-P04).
struct PageTickets {
    /// The maximum number of downloads that wait for their request. The oldest makes room for a new one.
    static let maximum = 16
    /// The time that a browser has for the request.
    static let lifetime = Duration.seconds(30)

    /// The contents of a file: some packets, in a format.
    struct Order: Hashable, Sendable {
        let format: PagePackets.Format
        let selection: PagePackets.Selection
    }

    private struct Waiting {
        let ticket: String
        let order: Order
        let end: Instant
    }

    private var waiting: [Waiting] = []

    mutating func issue(_ order: Order, at now: Instant) -> String {
        var random = SystemRandomNumberGenerator()
        let ticket = PageAccess.secret(using: &random)
        waiting.removeAll { $0.end <= now }
        if waiting.count == Self.maximum { waiting.removeFirst() }
        waiting.append(Waiting(ticket: ticket, order: order, end: now + Self.lifetime))
        return ticket
    }

    /// Returns the download that a ticket stands for, and forgets it.
    mutating func redeem(_ ticket: String, at now: Instant) -> Order? {
        waiting.removeAll { $0.end <= now }
        guard let index = waiting.firstIndex(where: { $0.ticket == ticket }) else { return nil }
        return waiting.remove(at: index).order
    }
}
