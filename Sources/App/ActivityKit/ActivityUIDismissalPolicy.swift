/// When the system removes a Live Activity that has ended (behaviour 9.23).
public struct ActivityUIDismissalPolicy: Sendable {
    private enum Time {
        case longest
        case now
        case at(Date)
    }

    /// How long an activity that has ended is shown at most.
    static let longest = TimeInterval(4 * 3_600)

    private let time: Time

    /// Four hours after the end.
    public static let `default` = ActivityUIDismissalPolicy(time: .longest)
    /// At once.
    public static let immediate = ActivityUIDismissalPolicy(time: .now)

    /// At a date, or four hours after the end if that is earlier.
    ///
    /// - Parameter date: The date.
    public static func after(_ date: Date) -> ActivityUIDismissalPolicy { ActivityUIDismissalPolicy(time: .at(date)) }

    /// How long the activity is shown after its end, in seconds; 0 for at once.
    var delay: TimeInterval {
        switch time {
        case .longest: Self.longest
        case .now: 0
        case .at(let date): min(max(date.timeIntervalSinceNow, 0), Self.longest)
        }
    }
}
