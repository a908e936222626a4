import HCI
import HCIHost

/// The parameters of a scan.
package struct ScanSettings: Hashable, Sendable {
    /// Whether to request scan responses.
    package var isActive: Bool
    /// The scan interval, in units of 625 µs, 4 to 16,384.
    package var interval: UInt16
    /// The scan window, in units of 625 µs, 4 to ``interval``.
    package var window: UInt16
    /// The PHYs to scan on: 1M, Coded, or both. Without extended advertising only 1M.
    package var phys: LEPHYs = .le1M

    /// Creates settings for a scan on 1M.
    package init(isActive: Bool, interval: UInt16 = 96, window: UInt16 = 48) {
        self.isActive = isActive
        self.interval = interval
        self.window = window
    }

    /// An active scan for half of the time, for a user who is waiting (behaviour 2.14; TGAP(scan_fast_interval) and
    /// TGAP(scan_fast_window) of Core Vol 3 Part C Appendix A).
    package static let attentive = ScanSettings(isActive: true)

    /// Returns the settings without the options that the controller lacks or only claims to support.
    func masked(for controller: ControllerInformation) -> ScanSettings {
        guard controller.fallbacks.contains(.noCodedPHY) || CommandGeneration(controller) == .legacy else {
            return self
        }
        var settings = self
        settings.phys.remove(.coded)
        if settings.phys.isEmpty { settings.phys = .le1M }
        return settings
    }

    /// Throws an error if a controller would refuse the settings.
    func check(for generation: CommandGeneration) throws(GAPError) {
        guard (4...0x4000).contains(interval), window >= 4, window <= interval else {
            throw .impossible("a scan needs a window of at least 2.5 ms within an interval of at most 10.24 s")
        }
        guard !phys.isEmpty, phys.isSubset(of: [.le1M, .coded]) else {
            throw .impossible("a scan supports only the PHYs 1M and Coded; request at least one of them")
        }
        if generation == .legacy, phys != .le1M { throw .needsExtendedAdvertising }
    }
}
