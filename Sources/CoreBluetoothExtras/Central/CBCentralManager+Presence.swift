import BluetoothService
import CoreBluetooth

/// What a scan tells that also says when a device is gone.
public enum Presence: Sendable {
    /// It was heard: for the first time, or again after it was lost; with duplicates each time.
    case seen(Discovery)
    /// Nothing was heard of it for as long as was asked for. It may be out of reach, switched off, or connected to somebody.
    case lost(CBPeripheral)
}

extension CBCentralManager {
    /// Scans as ``scan(services:options:)`` does, and says too when a device was not heard for a time, by the clock of the service
    /// (behaviour 15.3). A device that advertises seldom, or where packets get lost, needs a longer one than its interval.
    ///
    /// - Parameter patience: How long a device may be silent, from a millisecond to a day.
    public func presence(
        services: [CBUUID]? = nil,
        options: ScanOptions = ScanOptions(),
        lostAfter patience: Duration
    ) -> EventStream<Presence> {
        var request = ScanRequest(services, options)
        let (seconds, attoseconds) = min(max(patience, .zero), .seconds(86_400)).components
        request.lostAfter = Int(seconds * 1_000 + attoseconds / 1_000_000_000_000_000)
        return scan(request) { happening in
            switch happening {
            case .discovered(let peripheral, let advertisement, let rssi):
                .seen(Discovery(peripheral, advertisement, rssi: rssi))
            case .lost(let peripheral): .lost(peripheral)
            case .state, .scanEnded, .connectionChanged: nil
            }
        }
    }

    /// What the filter of the present scan has done so far; nil when the manager does not scan (behaviour 15.29).
    public var scanStatistics: ScanStatistics? {
        guard state == .poweredOn, case .scanCounts(let counts?) = reply(to: .scanCounts) else { return nil }
        return ScanStatistics(counts)
    }

    /// The present scan forgets which devices it has told of: each is told of again when it is heard.
    public func resetDuplicateFilter() { resetScanFilter() }
}

/// What the filter of a scan has done so far.
public struct ScanStatistics: Hashable, Sendable {
    /// Advertisements that the scan asked for.
    public var heard: Int
    /// Those that the app was told of.
    public var reported: Int
    /// Those that it was not told of, since it knew the device.
    public var suppressed: Int
    /// Devices that the filter remembers.
    public var remembered: Int
    /// Devices that it has forgotten to make room; they are told of again.
    public var forgotten: Int

    init(_ counts: ScanCounts) {
        heard = counts.heard
        reported = counts.reported
        suppressed = counts.suppressed
        remembered = counts.remembered
        forgotten = counts.forgotten
    }
}
