import BluetoothTypes
import EventLoops
import HCI

/// The parameters of scanning, common to the legacy and the extended commands.
struct ScanParameters {
    /// The parameters as set by the host. Legacy commands are represented with parameters for 1M only.
    let parameters: LESetExtendedScanParameters
    /// Whether the parameters come from an extended command. This determines the form of the reports.
    let isExtended: Bool

    /// Creates the parameters after a reset (Core Vol 4 Part E 7.8.10, 7.8.64).
    init() {
        self.init(
            LESetScanParameters {
                $0.kind = .passive
                $0.scanInterval = 0x0010
                $0.scanWindow = 0x0010
                $0.ownAddressKind = .publicDevice
                $0.filterPolicy = .unfiltered
            }
        )
    }

    init(_ command: LESetScanParameters) {
        isExtended = false
        parameters = LESetExtendedScanParameters {
            $0.ownAddressKind = command.ownAddressKind
            $0.filterPolicy = command.filterPolicy
            $0.le1M = PHYScanParameters(
                kind: command.kind,
                scanInterval: command.scanInterval,
                scanWindow: command.scanWindow
            )
        }
    }

    init(_ command: LESetExtendedScanParameters) {
        isExtended = true
        parameters = command
    }

    /// The parameters marked as extended, for a host that uses extended commands without having set parameters.
    var asExtended: ScanParameters { ScanParameters(parameters) }

    var filterPolicy: LEScanFilterPolicy { parameters.filterPolicy }

    func isActive(on phy: LEPHY) -> Bool {
        (phy == .coded ? parameters.coded : parameters.le1M)?.kind == .active
    }

    var windows: [ScanWindows] {
        let le1M = parameters.le1M.map { ScanWindows(interval: $0.scanInterval, window: $0.scanWindow) }
        let coded = parameters.coded.map {
            ScanWindows(phy: .coded, interval: $0.scanInterval, window: $0.scanWindow)
        }
        return ScanWindows.inTurn(le1M, coded)
    }
}

/// The duration, period and duplicate filter of scanning.
struct ScanTiming {
    /// Whether duplicates are filtered, and when the filter is cleared.
    var filter = LEDuplicateFilter.disabled
    /// The duration; nil for no limit.
    var duration: Duration?
    /// The time from the start of one scan duration to that of the next; nil for no repetition.
    var period: Duration?
}

extension BluetoothAddress {
    /// Stands for anonymous advertisers (Core Vol 4 Part E 7.7.65.13, 7.8.16).
    static let anonymous = BluetoothAddress(0, kind: .init(rawValue: 0xFF))
}
