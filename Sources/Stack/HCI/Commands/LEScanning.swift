import BluetoothTypes

/// Sets the parameters of legacy scanning (Core Vol 4 Part E 7.8.10).
package struct LESetScanParameters: HCICommand {
    package static let entry = CommandEntry(.le, 0x0B, "LE Set Scan Parameters", bit: (26, 2))

    package var kind = LEScanKind(rawValue: 0)
    /// The scan interval, in units of 0.625 ms, 0x0004 to 0x4000.
    package var scanInterval: UInt16 = 0
    /// The scan window, in units of 0.625 ms, 0x0004 to 0x4000.
    package var scanWindow: UInt16 = 0
    package var ownAddressKind = OwnAddressKind(rawValue: 0)
    package var filterPolicy = LEScanFilterPolicy(rawValue: 0)

    package init() {}

    package mutating func code<C: FieldCoder>(_ coder: inout C) throws(PacketError) {
        try coder.field("LE_Scan_Type", &kind)
        try coder.field("LE_Scan_Interval", &scanInterval)
        try coder.field("LE_Scan_Window", &scanWindow)
        try coder.field("Own_Address_Type", &ownAddressKind)
        try coder.field("Scanning_Filter_Policy", &filterPolicy)
    }
}

/// Starts or stops scanning (Core Vol 4 Part E 7.8.11).
package struct LESetScanEnable: HCICommand {
    package static let entry = CommandEntry(.le, 0x0C, "LE Set Scan Enable", bit: (26, 3))

    package var isEnabled = false
    package var filterDuplicates = LEDuplicateFilter(rawValue: 0)

    package init() {}

    package init(isEnabled: Bool, filterDuplicates: LEDuplicateFilter) {
        (self.isEnabled, self.filterDuplicates) = (isEnabled, filterDuplicates)
    }

    package mutating func code<C: FieldCoder>(_ coder: inout C) throws(PacketError) {
        try coder.field("LE_Scan_Enable", &isEnabled)
        try coder.field("Filter_Duplicates", &filterDuplicates)
    }
}
