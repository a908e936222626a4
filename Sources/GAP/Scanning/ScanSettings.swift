import BluetoothTypes
import HCI
import HCIHost

/// How to listen for advertisements.
package struct ScanSettings: Hashable, Sendable {
    /// Whether to ask advertisers for their scan responses.
    package var isActive: Bool
    /// From one time of listening to the next, in units of 625 µs, 4 to 16,384.
    package var interval: UInt16
    /// How long the radio listens each time, in units of 625 µs, 4 to ``interval``.
    package var window: UInt16
    /// Where to listen: 1M, Coded, or both. Without extended advertising only on 1M.
    package var phys: LEPHYs = .le1M
    /// Whom to listen to; nil for everybody. As many as the controller's filter accept list holds.
    package var advertisers: [BluetoothAddress]?
    /// For how long; nil until told otherwise.
    package var limit: Duration?
    /// Which address is shown to those who are asked for their scan responses. One that says nothing needs a
    /// ``DevicePrivacy``, and gives way to that of the device while a connection is being made.
    package var address = Advertisement.Address.device

    /// How to listen, on 1M and to everybody.
    package init(isActive: Bool, interval: UInt16 = 96, window: UInt16 = 48) {
        self.isActive = isActive
        self.interval = interval
        self.window = window
    }

    /// Half of the time, asking: what a person waits for (behaviour 2.14; TGAP(scan_fast_interval) and
    /// TGAP(scan_fast_window) of Core Vol 3 Part C Appendix A).
    package static let attentive = ScanSettings(isActive: true)

    /// The same without what the controller only claims to do.
    func masked(for controller: ControllerInformation) -> ScanSettings {
        guard controller.fallbacks.contains(.noCodedPHY) || CommandGeneration(controller) == .legacy else {
            return self
        }
        var settings = self
        settings.phys.remove(.coded)
        if settings.phys.isEmpty { settings.phys = .le1M }
        return settings
    }

    /// Finds what a controller would refuse.
    func check(for generation: CommandGeneration, acceptListSize: Int) throws(GAPError) {
        guard (4...0x4000).contains(interval), window >= 4, window <= interval else {
            throw .impossible("a scan listens for 2.5 ms to 10.24 s at a time, and no longer than its interval")
        }
        guard !phys.isEmpty, phys.isSubset(of: [.le1M, .coded]) else {
            throw .impossible("advertisers begin on 1M or on Coded; scan there")
        }
        if generation == .legacy, phys != .le1M { throw .needsExtendedAdvertising }
        if let advertisers, advertisers.count > acceptListSize {
            throw .impossible("the controller's filter accept list holds \(acceptListSize) advertisers; name fewer")
        }
        if let limit, limit <= .zero { throw .impossible("the time to scan is over before it begins") }
    }
}
