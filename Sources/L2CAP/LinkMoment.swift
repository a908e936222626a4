/// A point in the receive order of a link: the number of PDUs that had begun to arrive.
///
/// A PDU has the moment at which it began, however long the rest of it took. ``LinkHistory`` records the moments of
/// security changes, so that each PDU can be judged by the security that it arrived under, without any coordination.
package struct LinkMoment: Hashable, Sendable, Comparable {
    private var begun: UInt64 = 0

    /// The moment before anything has arrived.
    package static let first = LinkMoment()

    /// Advances to the next moment, when another PDU begins.
    package mutating func advance() {
        begun += 1
    }

    /// Orders moments from earlier to later.
    package static func < (a: LinkMoment, b: LinkMoment) -> Bool { a.begun < b.begun }
}
