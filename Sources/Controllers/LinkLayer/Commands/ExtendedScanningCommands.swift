import BluetoothTypes
import EventLoops
import HCI

/// Extended scanning commands (Core Vol 4 Part E 7.8.64, 7.8.65).
extension CommandTable {
    mutating func addExtendedScanningCommands() {
        add(LESetExtendedScanParameters.self, as: .extended, needs: .extendedAdvertising) { $0.setScanParameters($1) }
        add(LESetExtendedScanEnable.self, as: .extended, needs: .extendedAdvertising) { $0.setScanEnable($1) }
    }
}

extension VirtualController {
    fileprivate func setScanParameters(_ command: LESetExtendedScanParameters) -> HCIStatus {
        guard !scanner.isActive else { return .commandDisallowed }
        guard command.coded == nil || supportedPHYs.contains(.coded) else { return .unsupportedFeatureOrParameter }
        let phys = [command.le1M, command.coded].compactMap { $0 }
        guard !phys.isEmpty, command.filterPolicy.rawValue <= 3,
            phys.allSatisfy({ $0.kind.rawValue <= 1 && $0.scanWindow >= 4 && $0.scanWindow <= $0.scanInterval })
        else { return .invalidParameters }
        if let error = checkFilterPolicy(command.filterPolicy) { return error }
        if let error = checkOwnAddress(command.ownAddressKind) { return error }
        scanner.configure(ScanParameters(command))
        return .success
    }

    fileprivate func setScanEnable(_ command: LESetExtendedScanEnable) -> HCIStatus {
        guard command.isEnabled else {
            scanner.stop()
            return .success
        }
        let duration = Duration.milliseconds(Int64(command.duration) * 10)
        let period = Duration.milliseconds(Int64(command.period) * 1_280)
        let isTimed = command.duration > 0
        // Without a duration the period is ignored.
        let isPeriodic = isTimed && command.period > 0
        guard command.filterDuplicates.rawValue <= 2, command.filterDuplicates != .enabledPerPeriod || isPeriodic,
            !isPeriodic || duration < period
        else { return .invalidParameters }
        let own = ownAddress(scanner.settings.parameters.ownAddressKind)
        guard own.fallback != nil else { return .invalidParameters }
        // Enabling an active scan again clears the duplicate filter and restarts the duration.
        if !scanner.settings.isExtended { scanner.configure(scanner.settings.asExtended) }
        scanner.start(
            ScanTiming(
                filter: command.filterDuplicates,
                duration: isTimed ? duration : nil,
                period: isPeriodic ? period : nil
            ),
            as: own
        )
        return .success
    }
}
