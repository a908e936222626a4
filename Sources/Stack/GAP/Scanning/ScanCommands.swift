import HCI
import Security

/// The commands that start and stop a scan, in order. The controller reports every packet; duplicates are filtered for
/// each scan of each app.
struct ScanCommands {
    let generation: CommandGeneration
    let settings: ScanSettings
    let ownAddress: OwnAddress

    var start: [any HCICommand] {
        let parameters: any HCICommand
        switch generation {
        case .legacy:
            parameters = LESetScanParameters {
                $0.kind = kind
                $0.scanInterval = settings.interval
                $0.scanWindow = settings.window
                $0.ownAddressKind = ownAddress.kind
                $0.filterPolicy = .unfiltered
            }
        case .extended:
            let phy = PHYScanParameters(kind: kind, scanInterval: settings.interval, scanWindow: settings.window)
            parameters = LESetExtendedScanParameters {
                $0.ownAddressKind = ownAddress.kind
                $0.filterPolicy = .unfiltered
                $0.le1M = settings.phys.contains(.le1M) ? phy : nil
                $0.coded = settings.phys.contains(.coded) ? phy : nil
            }
        }
        return [parameters, enable(true)]
    }

    var stop: [any HCICommand] { [enable(false)] }

    private var kind: LEScanKind { settings.isActive ? .active : .passive }

    private func enable(_ isEnabled: Bool) -> any HCICommand {
        switch generation {
        case .legacy: LESetScanEnable(isEnabled: isEnabled, filterDuplicates: .disabled)
        case .extended:
            LESetExtendedScanEnable(isEnabled: isEnabled, filterDuplicates: .disabled, duration: 0, period: 0)
        }
    }
}
