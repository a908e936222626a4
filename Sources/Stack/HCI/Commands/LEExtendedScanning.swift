import BluetoothTypes

/// Sets the scan parameters for each PHY (Core Vol 4 Part E 7.8.64).
package struct LESetExtendedScanParameters: HCICommand {
    package static let entry = CommandEntry(.le, 0x41, "LE Set Extended Scan Parameters", bit: (37, 5))

    package var ownAddressKind = OwnAddressKind(rawValue: 0)
    package var filterPolicy = LEScanFilterPolicy(rawValue: 0)
    /// The scan parameters for the 1M PHY; nil if it is not scanned.
    package var le1M: PHYScanParameters?
    /// The scan parameters for the Coded PHY; nil if it is not scanned.
    package var coded: PHYScanParameters?

    package init() {}

    /// Codes the parameters. The mask of PHYs determines which ones follow.
    package mutating func code<C: FieldCoder>(_ coder: inout C) throws(PacketError) {
        try coder.field("Own_Address_Type", &ownAddressKind)
        try coder.field("Scanning_Filter_Policy", &filterPolicy)
        var phys: LEPHYs = []
        if le1M != nil { phys.insert(.le1M) }
        if coded != nil { phys.insert(.coded) }
        try coder.phys("Scanning_PHYs", &phys, allowed: [.le1M, .coded])
        try coder.optional("1M", &le1M, isPresent: phys.contains(.le1M))
        try coder.optional("Coded", &coded, isPresent: phys.contains(.coded))
    }
}

/// The scan parameters for one PHY, in LE Set Extended Scan Parameters.
package struct PHYScanParameters: PacketFields, Hashable, Sendable {
    package var kind = LEScanKind(rawValue: 0)
    /// The scan interval, in units of 0.625 ms, 0x0004 to 0xFFFF.
    package var scanInterval: UInt16 = 0
    /// The scan window, in units of 0.625 ms, 0x0004 to 0xFFFF.
    package var scanWindow: UInt16 = 0

    package init() {}

    package init(kind: LEScanKind, scanInterval: UInt16, scanWindow: UInt16) {
        (self.kind, self.scanInterval, self.scanWindow) = (kind, scanInterval, scanWindow)
    }

    package mutating func code<C: FieldCoder>(_ coder: inout C) throws(PacketError) {
        try coder.field("Scan_Type", &kind)
        try coder.field("Scan_Interval", &scanInterval)
        try coder.field("Scan_Window", &scanWindow)
    }
}

/// Starts or stops scanning (Core Vol 4 Part E 7.8.65).
package struct LESetExtendedScanEnable: HCICommand {
    package static let entry = CommandEntry(.le, 0x42, "LE Set Extended Scan Enable", bit: (37, 6))

    package var isEnabled = false
    package var filterDuplicates = LEDuplicateFilter(rawValue: 0)
    /// The duration, in units of 10 ms; 0 for no limit.
    package var duration: UInt16 = 0
    /// The scan period, in units of 1.28 s; 0 for a single scan.
    package var period: UInt16 = 0

    package init() {}

    package init(isEnabled: Bool, filterDuplicates: LEDuplicateFilter, duration: UInt16, period: UInt16) {
        self.isEnabled = isEnabled
        self.filterDuplicates = filterDuplicates
        self.duration = duration
        self.period = period
    }

    package mutating func code<C: FieldCoder>(_ coder: inout C) throws(PacketError) {
        try coder.field("Enable", &isEnabled)
        try coder.field("Filter_Duplicates", &filterDuplicates)
        try coder.field("Duration", &duration)
        try coder.field("Period", &period)
    }
}
