import BluetoothTypes
import HCI

/// Legacy scanning commands (Core Vol 4 Part E 7.8.10, 7.8.11).
extension CommandTable {
    mutating func addScanningCommands() {
        add(LESetScanParameters.self, as: .legacy) { $0.setScanParameters($1) }
        add(LESetScanEnable.self, as: .legacy) { $0.setScanEnable($1) }
    }
}

/// Whether scan interval and window are in range, 2.5 ms to 10.24 s, and the window fits the interval.
func isScanTimingValid(interval: UInt16, window: UInt16) -> Bool {
    (0x0004...0x4000).contains(interval) && (0x0004...0x4000).contains(window) && window <= interval
}

extension VirtualController {
    fileprivate func setScanParameters(_ command: LESetScanParameters) -> HCIStatus {
        guard !scanner.isActive else { return .commandDisallowed }
        guard command.kind.rawValue <= 1, command.filterPolicy.rawValue <= 3,
            isScanTimingValid(interval: command.scanInterval, window: command.scanWindow)
        else { return .invalidParameters }
        if let error = checkFilterPolicy(command.filterPolicy) { return error }
        if let error = checkOwnAddress(command.ownAddressKind) { return error }
        scanner.configure(ScanParameters(command))
        return .success
    }

    fileprivate func setScanEnable(_ command: LESetScanEnable) -> HCIStatus {
        guard command.isEnabled else {
            scanner.stop()
            return .success
        }
        let own = ownAddress(scanner.settings.parameters.ownAddressKind)
        guard command.filterDuplicates.rawValue <= 1, own.fallback != nil else { return .invalidParameters }
        // Enabling an active scan again clears the duplicate filter.
        scanner.start(ScanTiming(filter: command.filterDuplicates), as: own)
        return .success
    }
}
