import CoreBluetooth
import ServiceMessages

/// An event of a scan that also reports lost devices.
public enum Presence: Sendable {
    /// The device was found: for the first time or after it was lost, or, with duplicates, each time.
    case seen(Discovery)
    /// Nothing was received from the device for the given time. It may be out of range, switched off, or connected to a
    /// central.
    case lost(CBPeripheral)
}

extension CBCentralManager {
    /// Scans like ``scan(services:options:)`` and also reports when a device has been silent for a while
    /// (behaviour 15.3).
    ///
    /// The time is by the clock of the service. For a device with a long advertising interval, or where packets get
    /// lost, it has to be longer than that interval.
    ///
    /// - Parameters:
    ///   - services: Report peripherals that advertise at least one of these services. Nil or an empty list reports all
    ///     (behaviour 2.4).
    ///   - options: The options of the scan.
    ///   - timeout: How long a device may be silent, clamped to the range from a millisecond to a day.
    /// - Returns: A new stream, which ends as that of ``scan(services:options:)``.
    public func presence(
        services: [CBUUID]? = nil,
        options: ScanOptions = ScanOptions(),
        lostAfter timeout: Duration
    ) -> EventStream<Presence> {
        var request = ScanRequest(services, options)
        let (seconds, attoseconds) = min(max(timeout, .zero), .seconds(86_400)).components
        request.lostAfter = Int(seconds * 1_000 + attoseconds / 1_000_000_000_000_000)
        return scan(request) { update in
            switch update {
            case .discovered(let peripheral, let advertisement, let rssi):
                .seen(Discovery(peripheral, advertisement, rssi: rssi))
            case .lost(let peripheral): .lost(peripheral)
            case .state, .scanEnded, .connectionChanged: nil
            }
        }
    }

    /// The statistics of the current scan's filter of duplicates, or nil if the manager is not scanning
    /// (behaviour 15.29). Reading them blocks until the service has answered.
    public var scanStatistics: ScanStatistics? {
        guard state == .poweredOn, case .scanCounts(let counts?) = reply(to: .scanCounts) else { return nil }
        return ScanStatistics(counts)
    }

    /// Makes the current scan forget which devices it has reported, so that it reports each again (behaviour 15.29).
    public func resetDuplicateFilter() { resetScanFilter() }
}

/// The statistics of a scan's filter of duplicates (behaviour 15.29).
public struct ScanStatistics: Hashable, Sendable {
    /// The number of received advertisements that match the scan.
    public var heard: Int
    /// The number of those that were reported to the app.
    public var reported: Int
    /// The number of those that were not reported, because the device was known.
    public var suppressed: Int
    /// The number of devices that the filter remembers.
    public var remembered: Int
    /// The number of devices that the filter has forgotten to make room. They are reported again.
    public var forgotten: Int

    init(_ counts: ScanCounts) {
        heard = counts.heard
        reported = counts.reported
        suppressed = counts.suppressed
        remembered = counts.remembered
        forgotten = counts.forgotten
    }
}
