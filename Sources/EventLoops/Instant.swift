/// A point in the time of one event loop: nanoseconds since its beginning. It says nothing about the calendar.
public struct Instant: Comparable, Hashable, Sendable {
    /// Nanoseconds since the loop began.
    public var nanoseconds: Int64

    /// An instant so many nanoseconds after the loop began.
    @inlinable
    public init(nanoseconds: Int64) {
        self.nanoseconds = nanoseconds
    }

    /// An instant so many microseconds after the loop began.
    @inlinable
    public init(microseconds: Int64) {
        nanoseconds = microseconds * 1_000
    }

    /// The beginning of the loop.
    public static let zero = Instant(nanoseconds: 0)

    /// Whole microseconds since the loop began: the unit of the link layer.
    @inlinable
    public var microseconds: Int64 { nanoseconds / 1_000 }

    /// Earlier first.
    @inlinable
    public static func < (a: Instant, b: Instant) -> Bool { a.nanoseconds < b.nanoseconds }

    /// The instant `duration` later; the end of time instead of an overflow.
    @inlinable
    public static func + (instant: Instant, duration: Duration) -> Instant {
        let (sum, overflow) = instant.nanoseconds.addingReportingOverflow(duration.nanoseconds)
        return Instant(nanoseconds: overflow ? .max : sum)
    }

    /// The instant so many microseconds later; the end of time instead of an overflow. Quicker than adding a duration.
    @inlinable
    public func advanced(byMicroseconds microseconds: Int64) -> Instant {
        let (product, carry) = microseconds.multipliedReportingOverflow(by: 1_000)
        let (sum, overflow) = nanoseconds.addingReportingOverflow(product)
        return Instant(nanoseconds: carry || overflow ? .max : sum)
    }

    /// Nanoseconds from `earlier` to here. Quicker than a duration, which counts in 128 bits.
    @inlinable
    public func nanoseconds(since earlier: Instant) -> Int64 { nanoseconds - earlier.nanoseconds }

    /// Whole microseconds from `earlier` to here.
    @inlinable
    public func microseconds(since earlier: Instant) -> Int64 { nanoseconds(since: earlier) / 1_000 }

    /// The instant `duration` earlier.
    @inlinable
    public static func - (instant: Instant, duration: Duration) -> Instant {
        Instant(nanoseconds: instant.nanoseconds - duration.nanoseconds)
    }

    /// The time from `b` to `a`.
    @inlinable
    public static func - (a: Instant, b: Instant) -> Duration {
        .nanoseconds(a.nanoseconds - b.nanoseconds)
    }
}

extension Duration {
    /// The whole duration in nanoseconds, at most 292 years either way.
    @inlinable
    public var nanoseconds: Int64 {
        let (seconds, attoseconds) = components
        let (product, overflow) = seconds.multipliedReportingOverflow(by: 1_000_000_000)
        if overflow { return seconds < 0 ? .min : .max }
        let (sum, carry) = product.addingReportingOverflow(attoseconds / 1_000_000_000)
        return carry ? (seconds < 0 ? .min : .max) : sum
    }

    /// The whole duration in microseconds.
    @inlinable
    public var microseconds: Int64 { nanoseconds / 1_000 }
}
