import BluetoothTypes
import HCI

/// The limited and general discovery procedures (Core Vol 3 Part C 9.2.5, 9.2.6).
package final class DiscoveryProcedure {
    /// The procedure, which determines the modes in which a device is found.
    package enum Kind: Hashable, Sendable {
        /// Finds devices in limited discoverable mode.
        case limited
        /// Finds devices in limited or general discoverable mode.
        case general

        /// The minimum duration without the Coded PHY, which takes longer by ``GAPTimer/codedFactor``.
        var minimumTime: Duration {
            self == .limited ? GAPTimer.limitedDiscovery : GAPTimer.generalDiscovery
        }

        /// The flags of which a device must have at least one.
        fileprivate var flags: AdvertisingFlags {
            self == .limited ? .limitedDiscoverable : .discoverable
        }
    }

    /// The number of reported devices to remember. Beyond it, the oldest may be reported again (AB-G02).
    package static let maximumDevices = 1_024

    private enum Stage {
        case advertisement
        case withScanResponse
    }

    private let access: GenericAccess
    private var told = RecencyTable<AdvertiserKey, Stage>(limit: maximumDevices)

    package init(_ access: GenericAccess) {
        self.access = access
    }

    /// Starts discovery.
    ///
    /// - Parameters:
    ///   - settings: The scan settings. Without a limit, discovery lasts for the minimum duration of the procedure.
    ///   - onFound: Called with each device, and once more with its scan response.
    ///   - onEnd: Called when discovery ends by itself: with nil at its time limit, else with an error.
    /// - Throws: ``GAPError/busy`` while another role scans, ``GAPError/notReady`` without a controller.
    package func run(
        _ procedure: Kind,
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

    /// Stops discovery, without a call of `onEnd`.
    package func stop() {
        access.endScan(for: self)
    }

    private func isNews(_ sighting: Sighting, for procedure: Kind) -> Bool {
        // A device without the flags is a broadcaster or not discoverable.
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
