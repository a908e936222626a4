import EventLoops
import LinkLayer
import ServiceMessages

/// A crowd: phones whose apps advertise in the background, and accessories, all within range of each other.
///
/// Each device is modelled as an advertiser: connectable legacy events at its interval plus advDelay, with a PDU of the
/// right duration on each of the three primary channels. Observers scan passively with the windows of Apple's devices.
/// A PDU that overlaps another one on its channel is lost for all observers, as in ``Radio`` without capture.
///
/// Not modelled: distance, signal strength and the capture effect; scan requests and responses, and the backoff of
/// scanners; connections; interference; drift of clocks; the pauses of an advertiser that uses its radio otherwise.
struct CrowdConfiguration: Hashable, Sendable {
    /// The largest number of devices of a kind.
    static let maximumDevices = 100_000
    /// The largest number of services of a phone.
    static let maximumServices = 128
    /// The longest simulated time, in seconds.
    static let maximumSeconds = 3_600
    /// The advertising intervals that legacy advertising allows (Core Vol 4 Part E 7.8.5).
    static let intervals = Duration.milliseconds(20)...Duration.milliseconds(10_240)

    var phones = 10_000
    var accessories = 1_000
    /// The simulated time, in seconds.
    var seconds = 60
    /// The seed. Equal configurations have equal results.
    var seed: UInt64 = 1
    /// The advertising interval of a phone.
    ///
    /// Apple does not publish that of apps in the background (behaviour 7.24). The default is the slowest of the
    /// intervals that it recommends for accessories (behaviour 14.2): with a faster one such a crowd loses everything.
    var phoneInterval = slowestInterval
    /// The advertising interval of an accessory, by default the slowest that Apple recommends.
    var accessoryInterval = slowestInterval
    /// The largest number of services that a phone has in its overflow area.
    var services = 8
    /// The number of observers with each kind of scan.
    var observers = 4

    init() {}

    /// Returns this crowd with `1 / divisor` of its devices.
    func divided(by divisor: Int) -> CrowdConfiguration {
        var part = self
        part.phones = phones / divisor
        part.accessories = accessories / divisor
        return part
    }

    var devices: Int { phones + accessories }

    /// The devices that advertise alike.
    var groups: [AdvertiserGroup] {
        [
            AdvertiserGroup(count: phones, interval: phoneInterval, dataOctets: Self.phoneData),
            AdvertiserGroup(count: accessories, interval: accessoryInterval, dataOctets: Self.accessoryData),
        ].filter { $0.count > 0 }
    }

    /// The slowest of the advertising intervals in Apple's Accessory Design Guidelines.
    static let slowestInterval = Duration.milliseconds(1_285)

    /// The length of a phone's data: flags and the overflow area (behaviour 2.31).
    private static let phoneData = 3 + OverflowArea.encodedLength
    /// The length of an accessory's data: full, so that the result errs on the side of collisions.
    private static let accessoryData = 31
}

/// Advertisers with the same interval and the same length of data.
struct AdvertiserGroup: Hashable, Sendable {
    var count: Int
    /// The advertising interval, in microseconds.
    let interval: Int64
    let timing: LegacyEventTiming

    init(count: Int, interval: Duration, dataOctets: Int) {
        self.count = count
        self.interval = interval.microseconds
        timing = LegacyEventTiming(dataOctets: dataOctets)
    }

    /// The mean time, in microseconds, from one event to the next.
    private var mean: Double { Double(interval) + Double(LegacyEventTiming.maximumDelay - 1) / 2 }

    /// The mean number of events per second of each advertiser.
    var rate: Double { 1e6 / mean }

    /// Returns the time, in microseconds, of the first event of an advertiser that has advertised for a long time.
    ///
    /// The density is proportional to the probability that no event is due yet: constant up to the interval, and
    /// decreasing to 0 with the random delay.
    ///
    /// - Parameter unit: A random number in 0..<1.
    func firstEvent(_ unit: Double) -> Int64 {
        let time = unit * mean
        let rest = (time - Double(interval)) / (mean - Double(interval))
        guard rest > 0 else { return Int64(time) }
        return interval + Int64(Double(LegacyEventTiming.maximumDelay) * (1 - max(1 - rest, 0).squareRoot()))
    }
}

/// How an observer scans.
struct ScanKind: Hashable, Sendable {
    let name: String
    /// The scan interval and scan window, in microseconds.
    let interval, window: Int64

    init(name: String, interval: Duration, window: Duration) {
        self.name = name
        self.interval = interval.microseconds
        self.window = window.microseconds
    }

    /// A scan without pauses, with the scan interval of Core Vol 3 Part C Appendix A, TGAP(scan_fast_window).
    static let continuous = ScanKind(
        name: "continuous",
        interval: .milliseconds(30),
        window: .milliseconds(30)
    )

    /// The scans of Harald with an app in the foreground, and with all apps in the background (behaviours 2.14, 9.8).
    static let apps = [
        ScanKind(name: "foreground", interval: RadioTimes.scan.interval, window: RadioTimes.scan.window),
        ScanKind(
            name: "background",
            interval: RadioTimes.backgroundScan.interval,
            window: RadioTimes.backgroundScan.window
        ),
    ]

    /// The fraction of the time in which the observer listens.
    var duty: Double { Double(window) / Double(interval) }
}
