import BluetoothTypes

/// The number of an event (Core Vol 4 Part E 7.7).
package struct EventCode: WireValue, CustomStringConvertible {
    package var rawValue: UInt8

    /// Any number, known or not.
    package init(rawValue: UInt8) {
        self.rawValue = rawValue
    }

    /// LE events share this code; the first octet of their parameters tells them apart.
    package static let leMeta = EventCode(rawValue: 0x3E)
    /// The maker of the controller defines the rest.
    package static let vendorSpecific = EventCode(rawValue: 0xFF)

    /// The number in hexadecimal.
    package var description: String { "0x" + String(rawValue, radix: 16) }
}

/// The number of an LE event behind ``EventCode/leMeta`` (Core Vol 4 Part E 7.7.65).
package struct LESubevent: WireValue, CustomStringConvertible {
    package var rawValue: UInt8

    /// Any number, known or not.
    package init(rawValue: UInt8) {
        self.rawValue = rawValue
    }

    /// The number in hexadecimal.
    package var description: String { "0x" + String(rawValue, radix: 16) }
}
