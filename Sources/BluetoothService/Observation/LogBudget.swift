import BluetoothTypes
import EventLoops

/// Bounds what an app, or a user, adds to the log by its mistakes (AB-G05).
package struct LogBudget<Source: Hashable & Sendable> {
    package enum Verdict: Equatable {
        case log
        /// The last line of this period for the source, which says that more is not logged.
        case logAsLast
        case drop
    }

    /// Lines of one source in a period.
    static var maximumLines: Int { 20 }
    static var period: Duration { .seconds(60) }
    /// Sources that are counted at a time; those counted longest ago are forgotten.
    static var maximumSources: Int { 256 }

    private struct Count {
        let start: Instant
        var lines: Int
    }

    private var counts = RecencyTable<Source, Count>(limit: Self.maximumSources)

    /// A budget that nothing was taken from.
    package init() {}

    /// Decides about one more line of a source.
    package mutating func verdict(on source: Source, at now: Instant) -> Verdict {
        var count = counts[source] ?? Count(start: now, lines: 0)
        if now - count.start >= Self.period { count = Count(start: now, lines: 0) }
        count.lines = min(count.lines + 1, Self.maximumLines + 1)
        counts.set(count, for: source)
        return count.lines < Self.maximumLines ? .log : count.lines == Self.maximumLines ? .logAsLast : .drop
    }
}
