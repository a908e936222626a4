/// A point in the time of one event loop.
///
/// Instants of different loops are not comparable, and an instant has no relation to the calendar.
public struct Instant: Comparable, Hashable, Sendable {
    /// The number of nanoseconds since the loop began.
    public var nanoseconds: Int64

    /// Creates an instant from nanoseconds since the loop began.
    @inlinable
    public init(nanoseconds: Int64) {
        self.nanoseconds = nanoseconds
    }

    /// Creates an instant from microseconds since the loop began.
    @inlinable
    public init(microseconds: Int64) {
        nanoseconds = microseconds * 1_000
    }

    /// The instant at which the loop began.
    public static let zero = Instant(nanoseconds: 0)

    /// Whole microseconds since the loop began, the link layer's unit.
    @inlinable
    public var microseconds: Int64 { nanoseconds / 1_000 }

    /// Returns whether `a` is earlier than `b`.
    @inlinable
    public static func < (a: Instant, b: Instant) -> Bool { a.nanoseconds < b.nanoseconds }

    /// Returns the instant `duration` later.
    ///
    /// On overflow, returns the latest representable instant.
    @inlinable
    public static func + (instant: Instant, duration: Duration) -> Instant {
        let (sum, overflow) = instant.nanoseconds.addingReportingOverflow(duration.nanoseconds)
        return Instant(nanoseconds: overflow ? .max : sum)
    }

    /// Returns the instant `microseconds` later.
    ///
    /// On overflow, returns the latest representable instant. Faster than adding a duration.
    @inlinable
    public func advanced(byMicroseconds microseconds: Int64) -> Instant {
        let (product, carry) = microseconds.multipliedReportingOverflow(by: 1_000)
        let (sum, overflow) = nanoseconds.addingReportingOverflow(product)
        return Instant(nanoseconds: carry || overflow ? .max : sum)
    }

    /// Returns the nanoseconds from `earlier` to this instant.
    ///
    /// Faster than subtracting two instants, because a duration has 128 bits.
    @inlinable
    public func nanoseconds(since earlier: Instant) -> Int64 { nanoseconds - earlier.nanoseconds }

    /// Returns the whole microseconds from `earlier` to this instant.
    @inlinable
    public func microseconds(since earlier: Instant) -> Int64 { nanoseconds(since: earlier) / 1_000 }

    /// Returns the instant `duration` earlier.
    ///
    /// Traps on overflow.
    @inlinable
    public static func - (instant: Instant, duration: Duration) -> Instant {
        Instant(nanoseconds: instant.nanoseconds - duration.nanoseconds)
    }

    /// Returns the time from `b` to `a`.
    @inlinable
    public static func - (a: Instant, b: Instant) -> Duration {
        .nanoseconds(a.nanoseconds - b.nanoseconds)
    }
}

extension Duration {
    /// The duration in whole nanoseconds, clamped to about 292 years either way.
    @inlinable
    public var nanoseconds: Int64 {
        Int64(clamping: attoseconds / 1_000_000_000)
    }

    /// The duration in whole microseconds, within the range of ``nanoseconds``.
    @inlinable
    public var microseconds: Int64 { nanoseconds / 1_000 }
}
