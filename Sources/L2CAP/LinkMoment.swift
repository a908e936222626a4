/// A moment in what a link has received: how many PDUs had begun to arrive.
///
/// A PDU has the moment at which it began, however long the rest of it took. Whoever knows the security of the link notes
/// the moment of each change (``SecurityHistory``); nobody has to tell anybody else.
package struct LinkMoment: Hashable, Sendable, Comparable {
    private var begun: UInt64 = 0

    /// Before anything has arrived.
    package static let first = LinkMoment()

    /// Another PDU begins.
    package mutating func advance() {
        begun += 1
    }

    /// Earlier first.
    package static func < (a: LinkMoment, b: LinkMoment) -> Bool { a.begun < b.begun }
}
