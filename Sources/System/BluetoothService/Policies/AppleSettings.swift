import BluetoothTypes
import GAP
import L2CAP
import ServiceMessages

extension ConnectionSettings {
    /// The settings of Apple's centrals: interval 30 ms, no latency, supervision timeout 720 ms (behaviour 3.26).
    package static let apple = ConnectionSettings(
        parameters: ConnectionParameters(
            intervalMinimum: RadioTimes.connectionIntervalUnits,
            intervalMaximum: RadioTimes.connectionIntervalUnits,
            latency: 0,
            timeout: 72
        )
    )
}

extension ScanSettings {
    /// The settings while all scanning apps are in the background (behaviour 9.8).
    package static let background = ScanSettings(
        isActive: true,
        interval: RadioTimes.backgroundScanSlots.interval,
        window: RadioTimes.backgroundScanSlots.window
    )
}

extension AdvertisingTempo {
    /// The tempo while all advertising apps are in the background (behaviours 7.24, 14.2).
    package static let background = AdvertisingTempo(
        fast: RadioTimes.backgroundAdvertisingSlots...RadioTimes.backgroundAdvertisingSlots
    )

    /// The tempo that Apple recommends for accessories so that its devices discover them (behaviours 14.1, 14.2).
    package static let accessory = AdvertisingTempo(
        fast: RadioTimes.advertisingSlots.first...RadioTimes.advertisingSlots.first,
        slow: RadioTimes.advertisingSlots.later...RadioTimes.advertisingSlots.later,
        fastPhase: RadioTimes.fastAdvertising
    )
}

/// The deviations of an accessory's advertisements from those of Apple's devices.
package struct AdvertisingException: Hashable, Sendable {
    /// The advertising interval, in units of 625 µs; nil for those of Apple's devices.
    package var interval: UInt16?
    package var isConnectable = true

    package init() {}
}

extension AdvertisingConfiguration {
    /// Creates the advertisement of an Apple system for its apps. It uses legacy packets, which every device can
    /// receive, and continues while centrals are connected (behaviours 7.18, 7.28, 14.1).
    package init(_ plan: AdvertisingPlan, except exception: AdvertisingException = AdvertisingException()) {
        let broadcast = plan.scanResponse.isEmpty ? Kind.nonConnectable : .scannable
        self.init(
            exception.isConnectable ? .connectable : broadcast,
            data: plan.advertisement,
            scanResponse: plan.scanResponse
        )
        tempo = plan.isSlow ? .background : .accessory
        if let interval = exception.interval { tempo = AdvertisingTempo(fast: interval...interval) }
        outlastsConnections = true
    }
}
