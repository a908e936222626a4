import BluetoothTypes
import EventLoops

/// Limits the log lines that an app or a user can cause by misuse (AB-G05).
package struct LogBudget<Source: Hashable & Sendable> {
    package enum Verdict: Equatable {
        case log
        /// The last line of the source in this period. It has to mention that no more lines follow.
        case logAsLast
        case drop
    }

    static var maximumLines: Int { 20 }
    static var period: Duration { .seconds(60) }
    /// The maximum number of sources that are counted. The least recently counted ones are forgotten.
    static var maximumSources: Int { 256 }

    private struct Count {
        let start: Instant
        var lines: Int
    }

    private var counts = RecencyTable<Source, Count>(limit: Self.maximumSources)

    package init() {}

    package mutating func verdict(on source: Source, at now: Instant) -> Verdict {
        var count = counts[source] ?? Count(start: now, lines: 0)
        if now - count.start >= Self.period { count = Count(start: now, lines: 0) }
        count.lines = min(count.lines + 1, Self.maximumLines + 1)
        counts.set(count, for: source)
        return count.lines < Self.maximumLines ? .log : count.lines == Self.maximumLines ? .logAsLast : .drop
    }
}
