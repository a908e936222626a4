import GAP
import L2CAP

extension ConnectionSettings {
    /// What Apple's centrals do: an interval of 30 ms, no latency, a supervision timeout of 720 ms (behaviour 3.26).
    package static let apple = ConnectionSettings(
        parameters: ConnectionParameters(intervalMinimum: 24, intervalMaximum: 24, latency: 0, timeout: 72)
    )
}

/// The times that the radio keeps for apps, whatever they do (behaviour 15.18).
package enum RadioTimes {
    private static let slot = Duration.microseconds(625)

    /// While any app scans, one time of listening begins so long after the other; and how long it listens.
    package static var scan: (interval: Duration, window: Duration) { times(of: .attentive) }

    /// The same while all apps that scan are in the background.
    package static var backgroundScan: (interval: Duration, window: Duration) { times(of: .background) }

    private static func times(of settings: ScanSettings) -> (interval: Duration, window: Duration) {
        (slot * Int(settings.interval), slot * Int(settings.window))
    }

    /// From one advertisement to the next while all apps that advertise are in the background.
    package static var backgroundAdvertising: Duration { slot * Int(AdvertisingTempo.background.fast.upperBound) }

    /// From one advertisement to the next at first, and later.
    package static var advertising: (first: Duration, later: Duration) {
        let tempo = AdvertisingTempo.accessory
        return (slot * Int(tempo.fast.upperBound), slot * Int(tempo.slow?.upperBound ?? tempo.fast.upperBound))
    }

    /// How long advertising stays fast.
    package static var fastAdvertising: Duration { AdvertisingTempo.accessory.fastPhase }

    /// From one connection event to the next, on links that this system makes.
    package static var connectionInterval: Duration {
        .microseconds(1_250) * Int(ConnectionSettings.apple.parameters.intervalMaximum)
    }
}

extension ScanSettings {
    /// While all apps that scan are in the background: 11.25 ms in 1.28 s, what the specification proposes for it
    /// (TGAP(scan_slow_interval1) and TGAP(scan_slow_window1) of Core Vol 3 Part C Appendix A; behaviour 9.8).
    package static let background = ScanSettings(isActive: true, interval: 2_048, window: 18)
}

extension AdvertisingTempo {
    /// While all apps that advertise are in the background: one of the intervals that Apple asks of accessories, 417.5 ms
    /// (behaviours 7.24, 14.2).
    package static let background = AdvertisingTempo(fast: 668...668)

    /// What Apple asks of accessories so that its devices find them: 20 ms, and after 30 s 152.5 ms (behaviours 14.1, 14.2).
    package static let accessory = AdvertisingTempo(fast: 32...32, slow: 244...244)
}

extension GAP.Advertisement {
    /// What Apple's systems put on the air for their apps: legacy packets, since every device is to hear them, that go on
    /// while centrals are connected (behaviours 7.18, 7.28, 14.1).
    package init(_ plan: AdvertisingPlan) {
        self.init(.connectable, data: plan.advertisement, scanResponse: plan.scanResponse)
        tempo = plan.isSlow ? .background : .accessory
        outlastsConnections = true
    }
}
