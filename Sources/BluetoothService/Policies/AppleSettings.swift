import GAP
import L2CAP

extension ConnectionSettings {
    /// What Apple's centrals do: an interval of 30 ms, no latency, a supervision timeout of 720 ms (behaviour 3.26).
    package static let apple = ConnectionSettings(
        parameters: ConnectionParameters(intervalMinimum: 24, intervalMaximum: 24, latency: 0, timeout: 72)
    )
}

extension AdvertisingTempo {
    /// What Apple asks of accessories so that its devices find them: 20 ms, and after 30 s 152.5 ms (behaviours 14.1, 14.2).
    package static let accessory = AdvertisingTempo(fast: 32...32, slow: 244...244)
}

extension GAP.Advertisement {
    /// What Apple's systems put on the air for their apps: legacy packets, since every device is to hear them, that go on
    /// while centrals are connected (behaviours 7.18, 7.28, 14.1).
    package init(_ plan: AdvertisingPlan) {
        self.init(.connectable, data: plan.advertisement, scanResponse: plan.scanResponse)
        tempo = .accessory
        outlastsConnections = true
    }
}
