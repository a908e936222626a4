import BluetoothTypes
import EventLoops

/// Bounds what an app adds to the log by misusing the API (AB-G05).
struct MisuseBudget {
    enum Verdict: Equatable {
        case log
        /// The last line of this period for the app, which says that more is not logged.
        case logAsLast
        case drop
    }

    /// Lines of one app in a period.
    static let maximumLines = 20
    static let period = Duration.seconds(60)
    /// Apps that are counted at a time; those counted longest ago are forgotten.
    static let maximumApps = 256

    private struct Count {
        let start: Instant
        var lines: Int
    }

    private var counts = RecencyTable<AppIdentity, Count>(limit: Self.maximumApps)

    /// Decides about one more misuse by an app.
    mutating func verdict(on app: AppIdentity, at now: Instant) -> Verdict {
        var count = counts[app] ?? Count(start: now, lines: 0)
        if now - count.start >= Self.period { count = Count(start: now, lines: 0) }
        count.lines = min(count.lines + 1, Self.maximumLines + 1)
        counts.set(count, for: app)
        return count.lines < Self.maximumLines ? .log : count.lines == Self.maximumLines ? .logAsLast : .drop
    }
}
