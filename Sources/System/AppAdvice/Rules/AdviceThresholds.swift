import EventLoops

/// The limits from which on a sign is worth advice.
///
/// Those without another source are those of chapter 12 of Documentation/Behaviours.md, which are proposals of this
/// project.
enum AdviceThresholds {
    /// How long a scan may go on after a connection that it led to (12.1).
    static let scanAfterConnection = Duration.seconds(10)
    /// The number of reports of one device that only proximity needs (12.2).
    static let duplicates = 50
    /// The time from the first report of a device to a connection, within which duplicates do not count (12.2).
    static let duplicatesBeforeConnection = Duration.seconds(30)
    /// The longest scan without a pause (12.4).
    static let scan = Duration.seconds(60)
    /// The part of the results of a wide discovery that an app should use (12.5).
    static let usedPart = 0.5
    /// The number of reads within ``polling`` that are polling (12.6, 12.17).
    static let polls = 3
    static let polling = Duration.seconds(60)
    /// The time in which a value should change at least once to be worth a subscription (12.7).
    static let rareValues = Duration.seconds(600)
    /// How long a connection may be idle (12.9).
    static let idle = Duration.seconds(60)
    /// How long an app may advertise after its central has connected (12.14).
    static let advertisingAfterCentral = Duration.seconds(30)
    /// How long an app may advertise without a central (12.14).
    static let advertisingAlone = Duration.seconds(600)
    /// The time after launch in which no user decides (12.15).
    static let launch = Duration.seconds(1)
    /// The time in which an app should respond. The transaction ends after 30 s (12.19; Core Vol 3 Part F 3.3.3).
    static let response = Duration.seconds(5)
    /// The number of octets by attributes in a connection from which on a channel is better (12.22).
    static let bulk = 100_000
    /// How far above the maximum a write is likely to be a mistake, in octets (12.21).
    static let justAbove = 16
    /// The time that an event gives an app in the background (12.25; behaviour 9.7).
    static let wake = Duration.seconds(10)
    /// The number of services that are many (12.26).
    static let services = 8
    /// The number of gaps between reports from which an advertising interval is estimated (12.30).
    static let gaps = 24
    /// The shortest gap that separates advertising events: the shortest interval is 20 ms (Core Vol 6 Part B 4.4.2.2).
    static let shortestGap = Duration.milliseconds(19)
    /// The most that an advertiser adds to its interval at random (Core Vol 6 Part B 4.4.2.2.1).
    static let advertisingDelay = Duration.milliseconds(10)
    /// The intervals that Apple recommends, in microseconds (behaviours 14.1, 14.2).
    static let advertisingIntervals = [
        20_000, 152_500, 211_250, 318_750, 417_500, 546_250, 760_000, 852_500, 1_022_500, 1_285_000,
    ]
    /// How exact an estimated interval is, in milliseconds: four standard deviations of the mean of 12 delays.
    static let intervalError = 3.5
    /// How soon after a restoration a peripheral that is released was not kept (12.27).
    static let restoration = Duration.seconds(5)
}

/// The last times of an operation, which is polling if there are too many within a minute (12.6, 12.17).
struct RecentTimes: Sendable {
    private var times: [Instant] = []

    /// Adds a time, and returns whether polling is found with it. Then it counts anew.
    mutating func add(_ now: Instant) -> Bool {
        times.removeAll { now - $0 > AdviceThresholds.polling }
        times.append(now)
        guard times.count >= AdviceThresholds.polls else { return false }
        times = []
        return true
    }
}
