import HCI
import Security

/// The commands that start and stop a scan, in order. The controller reports every packet; duplicates are filtered for
/// each scan of each app.
struct ScanCommands {
    let generation: CommandGeneration
    let settings: ScanSettings
    let ownAddress: OwnAddress

    /// Whether the controller times the scan. Extended commands support up to 655 s.
    var isTimedByController: Bool {
        guard generation == .extended, let limit = settings.limit else { return false }
        return limit.tensOfMilliseconds < .max
    }

    var start: [any HCICommand] {
        var commands: [any HCICommand] = []
        if let advertisers = settings.advertisers {
            commands.append(LEClearFilterAcceptList())
            commands += advertisers.map { LEAddDeviceToFilterAcceptList(address: $0) }
        }
        switch generation {
        case .legacy:
            commands.append(
                LESetScanParameters {
                    $0.kind = kind
                    $0.scanInterval = settings.interval
                    $0.scanWindow = settings.window
                    $0.ownAddressKind = ownAddress.kind
                    $0.filterPolicy = filterPolicy
                }
            )
            commands.append(LESetScanEnable(isEnabled: true, filterDuplicates: .disabled))
        case .extended:
            let phy = PHYScanParameters(kind: kind, scanInterval: settings.interval, scanWindow: settings.window)
            commands.append(
                LESetExtendedScanParameters {
                    $0.ownAddressKind = ownAddress.kind
                    $0.filterPolicy = filterPolicy
                    $0.le1M = settings.phys.contains(.le1M) ? phy : nil
                    $0.coded = settings.phys.contains(.coded) ? phy : nil
                }
            )
            commands.append(enable(true, duration: isTimedByController ? settings.limit?.tensOfMilliseconds ?? 0 : 0))
        }
        return commands
    }

    var stop: [any HCICommand] {
        switch generation {
        case .legacy: [LESetScanEnable(isEnabled: false, filterDuplicates: .disabled)]
        case .extended: [enable(false, duration: 0)]
        }
    }

    private var kind: LEScanKind { settings.isActive ? .active : .passive }

    private var filterPolicy: LEScanFilterPolicy { settings.advertisers == nil ? .unfiltered : .acceptListOnly }

    private func enable(_ isEnabled: Bool, duration: UInt16) -> LESetExtendedScanEnable {
        LESetExtendedScanEnable(
            isEnabled: isEnabled,
            filterDuplicates: .disabled,
            duration: duration,
            period: 0
        )
    }
}
