/// How many packets a ``LiveWorld`` had at some instants: those of its phone, and on the air.
///
/// A page keeps the last packets only. So on the way to an instant, a world can leave out what nobody will see.
struct PacketCounts: Hashable, Sendable {
    /// The maximum number of instants. Beyond it, every other one is forgotten.
    private static let maximum = 4_096
    /// The shortest time between two instants, in milliseconds.
    private static let shortest: Int64 = 1_000

    private struct Count: Hashable, Sendable {
        let milliseconds: Int64
        let packets: UInt64
    }

    private var counts: [Count] = []
    private var pause = Self.shortest

    /// Notes the number of the last packet at an instant, in milliseconds since the beginning.
    mutating func note(_ packets: UInt64, at milliseconds: Int64) {
        guard milliseconds >= (counts.last?.milliseconds ?? 0) + pause else { return }
        counts.append(Count(milliseconds: milliseconds, packets: packets))
        guard counts.count > Self.maximum else { return }
        pause *= 2
        counts = counts.enumerated().filter { $0.offset.isMultiple(of: 2) }.map(\.element)
    }

    /// Forgets what was noted after an instant.
    mutating func forget(after milliseconds: Int64) {
        while let last = counts.last, last.milliseconds > milliseconds { counts.removeLast() }
    }

    /// Returns the latest known instant from which on a number of packets come before another instant; nil if there is
    /// none.
    func instant(with packets: UInt64, before milliseconds: Int64) -> Int64? {
        let end = counts.last { $0.milliseconds <= milliseconds }
        guard let end = end?.packets, end >= packets else { return nil }
        return counts.last { $0.packets <= end - packets }?.milliseconds
    }
}
