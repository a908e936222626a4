import BluetoothTypes

/// An event code (Core Vol 4 Part E 7.7).
package struct EventCode: WireValue, CustomStringConvertible {
    package var rawValue: UInt8
    package init(rawValue: UInt8) { self.rawValue = rawValue }

    /// The code of all LE events. The first parameter is the subevent code.
    package static let leMeta = EventCode(rawValue: 0x3E)
    /// The code of all vendor-specific events.
    package static let vendorSpecific = EventCode(rawValue: 0xFF)

    /// The number in hexadecimal.
    package var description: String { "0x" + String(rawValue, radix: 16) }
}

/// A subevent code, which identifies an LE event with the code ``EventCode/leMeta`` (Core Vol 4 Part E 7.7.65).
package struct LESubevent: WireValue, CustomStringConvertible {
    package var rawValue: UInt8
    package init(rawValue: UInt8) { self.rawValue = rawValue }

    /// The number in hexadecimal.
    package var description: String { "0x" + String(rawValue, radix: 16) }
}
