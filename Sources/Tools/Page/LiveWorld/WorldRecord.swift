/// The history of a ``LiveWorld``: its acts, and its last instant.
///
/// A world with the same seed that repeats the acts at their times has the same packets and events. So no state has to
/// be kept to go back.
struct WorldRecord: Hashable, Sendable {
    /// The acts that are not repeated yet, in their order.
    private(set) var deeds: ArraySlice<LiveWorld.Deed>
    /// The last instant, in milliseconds since the beginning.
    let end: Int64
    let counts: PacketCounts

    init(_ deeds: [LiveWorld.Deed], end: Int64, _ counts: PacketCounts) {
        (self.deeds, self.end, self.counts) = (deeds[...], end, counts)
    }

    /// The time of the next act, or else of the end.
    var nextInstant: Int64 { deeds.first.map { min($0.milliseconds, end) } ?? end }

    /// Removes the next act and returns it, if its time has come.
    mutating func takeDeed(at milliseconds: Int64) -> LiveWorld.Deed? {
        guard let first = deeds.first, first.milliseconds <= milliseconds else { return nil }
        return deeds.popFirst()
    }
}
