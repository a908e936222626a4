import Dispatch

/// How fast the clock of a ``VirtualEventLoop`` follows the wall clock.
public struct Pace: Hashable, Sendable {
    /// The seconds of the loop that pass in a second of the wall clock.
    public let speed: Double

    /// As fast as the wall clock.
    public static let realTime = Pace(speed: 1)

    /// Creates a pace.
    ///
    /// - Parameter speed: The seconds of the loop that pass in a second of the wall clock.
    /// - Precondition: `speed` is more than 0 and finite.
    public init(speed: Double) {
        precondition(speed > 0 && speed.isFinite, "a pace of \(speed) cannot be kept; choose a positive number")
        self.speed = speed
    }
}

/// Converts between the clock of a paced loop and the wall clock.
struct Pacer {
    private let pace: Pace
    private let start: Instant
    private let wallStart = DispatchTime.now()

    /// Starts at this moment of the wall clock.
    init(_ pace: Pace, from start: Instant) {
        self.pace = pace
        self.start = start
    }

    /// The instant to which the loop's clock has come.
    var now: Instant {
        let wall = DispatchTime.now().uptimeNanoseconds - wallStart.uptimeNanoseconds
        return start + .nanoseconds(Int64(clamping: Double(wall) * pace.speed))
    }

    /// The time of the wall clock at which an instant comes.
    func wallTime(of instant: Instant) -> DispatchTime {
        let wall = Double((instant - start).nanoseconds) / pace.speed
        let end = Double(wallStart.uptimeNanoseconds) + max(wall, 0)
        return end < Double(Int64.max) ? DispatchTime(uptimeNanoseconds: UInt64(end)) : .distantFuture
    }
}

extension Int64 {
    /// The nearest whole number that an `Int64` can have.
    fileprivate init(clamping value: Double) {
        self = value < Double(Int64.max) ? Int64(value) : .max
    }
}
