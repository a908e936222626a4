import BluetoothTypes

/// A command opcode, which consists of a group (6 bits) and a command (10 bits) (Core Vol 4 Part E 5.4.1).
package struct Opcode: WireValue, CustomStringConvertible {
    /// The groups of commands (Core Vol 4 Part E 5.4.1).
    package enum Group: UInt16 {
        case linkControl = 0x01
        case baseband = 0x03
        case informational = 0x04
        case statusParameters = 0x05
        case le = 0x08
        case vendor = 0x3F
    }

    package var rawValue: UInt16

    package init(rawValue: UInt16) { self.rawValue = rawValue }

    package init(group: Group, command: UInt16) {
        rawValue = group.rawValue << 10 | command & 0x3FF
    }

    /// Stands for no command in events that only update the number of command credits (Vol 4 Part E 4.4).
    package static let none = Opcode(rawValue: 0)

    /// The opcode group field (OGF).
    package var group: UInt16 { rawValue >> 10 }
    /// The opcode command field (OCF).
    package var command: UInt16 { rawValue & 0x3FF }
    package var isVendorSpecific: Bool { group == Group.vendor.rawValue }

    /// The number as in the specification, with four hexadecimal digits.
    package var description: String { "0x" + hexadecimal([UInt8(rawValue >> 8), UInt8(rawValue & 0xFF)]) }
}

/// An event code (Core Vol 4 Part E 7.7).
package struct EventCode: WireValue, CustomStringConvertible {
    package var rawValue: UInt8
    package init(rawValue: UInt8) { self.rawValue = rawValue }

    /// The code of all LE events. The first parameter is the subevent code.
    package static let leMeta = EventCode(rawValue: 0x3E)
    package static let vendorSpecific = EventCode(rawValue: 0xFF)

    package var description: String { "0x" + String(rawValue, radix: 16) }
}

/// A subevent code, which identifies an LE event with the code ``EventCode/leMeta`` (Core Vol 4 Part E 7.7.65).
package struct LESubevent: WireValue, CustomStringConvertible {
    package var rawValue: UInt8
    package init(rawValue: UInt8) { self.rawValue = rawValue }

    package var description: String { "0x" + String(rawValue, radix: 16) }
}
