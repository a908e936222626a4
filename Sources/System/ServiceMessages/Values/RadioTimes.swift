/// The timing of the radio, which apps cannot influence (behaviour 15.18). The service applies it, and apps can read it
/// without a service.
package enum RadioTimes {
    private static let slot = Duration.microseconds(625)

    /// The scan interval and scan window while any scanning app is in the foreground, in slots of 625 µs: half of the
    /// time (behaviour 2.14; TGAP(scan_fast_interval) and TGAP(scan_fast_window) of Core Vol 3 Part C Appendix A).
    package static let scanSlots: (interval: UInt16, window: UInt16) = (96, 48)

    /// The scan interval and scan window while all scanning apps are in the background, in slots: a window of 11.25 ms
    /// every 1.28 s, as the specification recommends (TGAP(scan_slow_interval1) and TGAP(scan_slow_window1) of Core Vol
    /// 3 Part C Appendix A; behaviour 9.8).
    package static let backgroundScanSlots: (interval: UInt16, window: UInt16) = (2_048, 18)

    /// The advertising interval while all advertising apps are in the background, in slots: 417.5 ms, one of the
    /// intervals that Apple recommends for accessories (behaviours 7.24, 14.2).
    package static let backgroundAdvertisingSlots: UInt16 = 668

    /// The advertising interval at first, and after ``fastAdvertising``, in slots: 20 ms and 152.5 ms. Apple recommends
    /// them for accessories so that its devices discover them (behaviours 14.1, 14.2).
    package static let advertisingSlots: (first: UInt16, later: UInt16) = (32, 244)

    /// The connection interval on links that this system establishes, in units of 1.25 ms (behaviour 3.26).
    package static let connectionIntervalUnits: UInt16 = 24

    /// How long advertising stays fast: TGAP(adv_fast_period) of Core Vol 3 Part C Appendix A.
    package static let fastAdvertising = Duration.seconds(30)
}

// MARK: - Durations

extension RadioTimes {
    /// See ``scanSlots``.
    package static var scan: (interval: Duration, window: Duration) {
        (slot * Int(scanSlots.interval), slot * Int(scanSlots.window))
    }

    /// See ``backgroundScanSlots``.
    package static var backgroundScan: (interval: Duration, window: Duration) {
        (slot * Int(backgroundScanSlots.interval), slot * Int(backgroundScanSlots.window))
    }

    /// See ``backgroundAdvertisingSlots``.
    package static var backgroundAdvertising: Duration { slot * Int(backgroundAdvertisingSlots) }

    /// See ``advertisingSlots``.
    package static var advertising: (first: Duration, later: Duration) {
        (slot * Int(advertisingSlots.first), slot * Int(advertisingSlots.later))
    }

    /// See ``connectionIntervalUnits``.
    package static var connectionInterval: Duration { .microseconds(1_250) * Int(connectionIntervalUnits) }
}
