import GAP
import L2CAP

extension ConnectionSettings {
    /// The settings of Apple's centrals: an interval of 30 ms, no latency, and a supervision timeout of 720 ms
    /// (behaviour 3.26).
    package static let apple = ConnectionSettings(
        parameters: ConnectionParameters(intervalMinimum: 24, intervalMaximum: 24, latency: 0, timeout: 72)
    )
}

/// The timing of the radio, which apps cannot influence (behaviour 15.18).
package enum RadioTimes {
    private static let slot = Duration.microseconds(625)

    /// The scan interval and scan window while any scanning app is in the foreground.
    package static var scan: (interval: Duration, window: Duration) { times(of: .attentive) }

    /// The scan interval and scan window while all scanning apps are in the background.
    package static var backgroundScan: (interval: Duration, window: Duration) { times(of: .background) }

    private static func times(of settings: ScanSettings) -> (interval: Duration, window: Duration) {
        (slot * Int(settings.interval), slot * Int(settings.window))
    }

    /// The advertising interval while all advertising apps are in the background.
    package static var backgroundAdvertising: Duration { slot * Int(AdvertisingTempo.background.fast.upperBound) }

    /// The advertising interval at first, and after ``fastAdvertising``.
    package static var advertising: (first: Duration, later: Duration) {
        let tempo = AdvertisingTempo.accessory
        return (slot * Int(tempo.fast.upperBound), slot * Int(tempo.slow?.upperBound ?? tempo.fast.upperBound))
    }

    /// How long advertising stays fast.
    package static var fastAdvertising: Duration { AdvertisingTempo.accessory.fastPhase }

    /// The connection interval on links that this system establishes.
    package static var connectionInterval: Duration {
        .microseconds(1_250) * Int(ConnectionSettings.apple.parameters.intervalMaximum)
    }
}

extension ScanSettings {
    /// The settings while all scanning apps are in the background: a window of 11.25 ms every 1.28 s, as the
    /// specification recommends (TGAP(scan_slow_interval1) and TGAP(scan_slow_window1) of Core Vol 3 Part C Appendix A;
    /// behaviour 9.8).
    package static let background = ScanSettings(isActive: true, interval: 2_048, window: 18)
}

extension AdvertisingTempo {
    /// The tempo while all advertising apps are in the background: 417.5 ms, one of the intervals that Apple recommends
    /// for accessories (behaviours 7.24, 14.2).
    package static let background = AdvertisingTempo(fast: 668...668)

    /// The tempo that Apple recommends for accessories so that its devices discover them: 20 ms, and 152.5 ms after 30
    /// s (behaviours 14.1, 14.2).
    package static let accessory = AdvertisingTempo(fast: 32...32, slow: 244...244)
}

extension AdvertisingConfiguration {
    /// Creates the advertisement of an Apple system for its apps. It uses legacy packets, which every device can
    /// receive, and continues while centrals are connected (behaviours 7.18, 7.28, 14.1).
    package init(_ plan: AdvertisingPlan) {
        self.init(.connectable, data: plan.advertisement, scanResponse: plan.scanResponse)
        tempo = plan.isSlow ? .background : .accessory
        outlastsConnections = true
    }
}
