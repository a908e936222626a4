import BluetoothTypes
import HCI

/// Looks for devices that want to be found (Core Vol 3 Part C 9.2.5, 9.2.6).
package final class Discovery {
    /// Which devices count.
    package enum Procedure: Hashable, Sendable {
        /// Those in limited discoverable mode.
        case limited
        /// Those in limited and in general discoverable mode.
        case general

        /// How long it has to last at least.
        var minimumTime: Duration {
            self == .limited ? GAPTimer.limitedDiscovery : GAPTimer.generalDiscovery
        }

        /// The flags of which one has to be set.
        fileprivate var flags: AdvertisingFlags {
            self == .limited ? .limitedDiscoverable : .discoverable
        }
    }

    /// Devices that a discovery remembers having told of. Beyond that the oldest may be told of again (AB-G02).
    package static let maximumDevices = 1_024

    private enum Stage {
        case advertisement
        case withScanResponse
    }

    private let access: GenericAccess
    private var told = RecencyTable<AdvertiserKey, Stage>(limit: maximumDevices)

    /// A discovery that is not under way.
    package init(_ access: GenericAccess) {
        self.access = access
    }

    /// Looks for devices.
    ///
    /// - Parameters:
    ///   - settings: How to listen; without a limit, for as long as the procedure has to last at least.
    ///   - onFound: Called with each device, and once more with its scan response.
    ///   - onEnd: Called when it ends by itself: with nil when its time is over.
    /// - Throws: ``GAPError/busy`` while another role scans, ``GAPError/notReady`` without a controller.
    package func run(
        _ procedure: Procedure,
        _ settings: ScanSettings = .attentive,
        onFound: @escaping (Sighting) -> Void,
        onEnd: @escaping (GAPError?) -> Void
    ) throws(GAPError) {
        var settings = settings
        let factor = settings.phys.contains(.coded) ? GAPTimer.codedFactor : 1
        settings.limit = settings.limit ?? procedure.minimumTime * factor
        told.removeAll()
        try access.scan(
            settings,
            for: self,
            onSighting: { [weak self] sighting in
                if self?.isNews(sighting, for: procedure) == true { onFound(sighting) }
            },
            onEnd: onEnd
        )
    }

    /// Looks no longer.
    package func stop() {
        access.endScan(for: self)
    }

    private func isNews(_ sighting: Sighting, for procedure: Procedure) -> Bool {
        // Without the flags a device is a broadcaster, or in no discoverable mode.
        guard let flags = sighting.data.flags, !flags.isDisjoint(with: procedure.flags) else { return false }
        let key = AdvertiserKey(sighting.address, sid: sighting.sid)
        let stage: Stage = sighting.hasScanResponse ? .withScanResponse : .advertisement
        switch (told[key], stage) {
        case (nil, _), (.advertisement, .withScanResponse):
            told.set(stage, for: key)
            return true
        case (.advertisement, .advertisement), (.withScanResponse, _): return false
        }
    }
}
