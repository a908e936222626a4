import BluetoothTypes
import EventLoops
import HCI

/// How a scanner scans: what the legacy and the extended commands say in common.
struct ScanSettings {
    /// The parameters as the host gave them; a legacy command speaks of 1M only.
    let parameters: LESetExtendedScanParameters
    /// Whether they came in an extended command: the reports go the same way.
    let isExtended: Bool

    /// What a reset leaves (Core Vol 4 Part E 7.8.10, 7.8.64).
    init() {
        self.init(
            LESetScanParameters(
                kind: .passive,
                scanInterval: 0x0010,
                scanWindow: 0x0010,
                ownAddressKind: .publicDevice,
                filterPolicy: .everybody
            )
        )
    }

    /// What a legacy command says.
    init(_ command: LESetScanParameters) {
        isExtended = false
        parameters = LESetExtendedScanParameters(
            ownAddressKind: command.ownAddressKind,
            filterPolicy: command.filterPolicy,
            le1M: PHYScanParameters(
                kind: command.kind,
                scanInterval: command.scanInterval,
                scanWindow: command.scanWindow
            )
        )
    }

    /// What an extended command says.
    init(_ command: LESetExtendedScanParameters) {
        isExtended = true
        parameters = command
    }

    /// The same for a host that uses extended commands and has set no parameters.
    var asExtended: ScanSettings { ScanSettings(parameters) }

    var filterPolicy: LEScanFilterPolicy { parameters.filterPolicy }

    /// Whether scan responses are asked for on a primary PHY.
    func isActive(on phy: LEPHY) -> Bool {
        (phy == .coded ? parameters.coded : parameters.le1M)?.kind == .active
    }

    /// The windows of each PHY.
    var windows: [ScanWindows] {
        let le1M = parameters.le1M.map { ScanWindows(interval: $0.scanInterval, window: $0.scanWindow) }
        let coded = parameters.coded.map {
            ScanWindows(phy: .coded, interval: $0.scanInterval, window: $0.scanWindow)
        }
        if let le1M, let coded { return ScanWindows.inTurn(le1M, coded) }
        return [le1M, coded].compactMap { $0 }
    }
}

/// For how long a scanner scans.
struct ScanTiming {
    /// Whether, and until when, duplicates are left out.
    var filter = LEDuplicateFilter.disabled
    /// How long; nil for ever.
    var duration: Duration?
    /// From the beginning of one duration to that of the next; nil for no repetition.
    var period: Duration?
}

extension BluetoothAddress {
    /// Stands for advertisers that do not tell who they are (Core Vol 4 Part E 7.7.65.13, 7.8.16).
    static let anonymous = BluetoothAddress(0, kind: .init(rawValue: 0xFF))
}
