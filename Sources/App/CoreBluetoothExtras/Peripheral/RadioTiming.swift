import ServiceMessages

/// The times of the radio, which all apps share: those of the foreground hold while any app that scans or advertises is
/// in the foreground (behaviour 15.18).
public enum RadioTiming {
    /// The scan interval while any scanning app is in the foreground.
    public static var scanInterval: Duration { RadioTimes.scan.interval }
    /// The scan window: half of ``scanInterval``.
    public static var scanWindow: Duration { RadioTimes.scan.window }
    /// The scan interval while all scanning apps are in the background (behaviour 9.8).
    public static var backgroundScanInterval: Duration { RadioTimes.backgroundScan.interval }
    /// The scan window while all scanning apps are in the background (behaviour 9.8).
    public static var backgroundScanWindow: Duration { RadioTimes.backgroundScan.window }
    /// The advertising interval while all advertising apps are in the background (behaviour 7.24).
    public static var backgroundAdvertisingInterval: Duration { RadioTimes.backgroundAdvertising }
    /// The advertising interval during the first ``fastAdvertisingPeriod``, without the random delay of up to 10 ms
    /// (Core Vol 6 Part B 4.4.2.2).
    public static var advertisingInterval: Duration { RadioTimes.advertising.first }
    /// The time for which advertising stays at ``advertisingInterval``.
    public static var fastAdvertisingPeriod: Duration { RadioTimes.fastAdvertising }
    /// The advertising interval after ``fastAdvertisingPeriod``.
    public static var laterAdvertisingInterval: Duration { RadioTimes.advertising.later }
    /// The connection interval of links that this system creates, until the peripheral asks for another.
    public static var connectionInterval: Duration { RadioTimes.connectionInterval }
    /// The time after which a scan without duplicates reports a peripheral again: nil, which means never, apart from
    /// its scan response (behaviours 2.3, 2.15). A new scan reports all peripherals again.
    public static var reportInterval: Duration? { nil }
}
