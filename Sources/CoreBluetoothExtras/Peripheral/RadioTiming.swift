import BluetoothService

/// The times that the radio keeps for apps. They hold for all of them together: those of the foreground while any app that scans or
/// advertises is there (behaviour 15.18).
public enum RadioTiming {
    /// While any app scans: from one time of listening to the next.
    public static var scanInterval: Duration { RadioTimes.scan.interval }
    /// While any app scans: how long it listens each time. Of ``scanInterval`` it is the duty cycle, half.
    public static var scanWindow: Duration { RadioTimes.scan.window }
    /// While all apps that scan are in the background: from one time of listening to the next (behaviour 9.8).
    public static var backgroundScanInterval: Duration { RadioTimes.backgroundScan.interval }
    /// While all apps that scan are in the background: how long it listens each time.
    public static var backgroundScanWindow: Duration { RadioTimes.backgroundScan.window }
    /// From one advertisement to the next while all apps that advertise are in the background (behaviour 7.24).
    public static var backgroundAdvertisingInterval: Duration { RadioTimes.backgroundAdvertising }
    /// From one advertisement to the next in the first ``fastAdvertisingPeriod``, besides a lot of up to 10 ms (Core Vol 6 Part B 4.4.2.2).
    public static var advertisingInterval: Duration { RadioTimes.advertising.first }
    /// How long advertising stays at ``advertisingInterval``.
    public static var fastAdvertisingPeriod: Duration { RadioTimes.fastAdvertising }
    /// From one advertisement to the next after that.
    public static var laterAdvertisingInterval: Duration { RadioTimes.advertising.later }
    /// From one connection event to the next on links that this system makes, until the peripheral asks for another.
    public static var connectionInterval: Duration { RadioTimes.connectionInterval }
    /// After how long a scan without duplicates tells of the same peripheral again: never, but for its scan response (behaviours
    /// 2.3, 2.15). A scan that is begun anew tells of all again.
    public static var reportInterval: Duration? { nil }
}
