import BluetoothTypes

/// The number of a command: a group of six bits and a command of ten (Core Vol 4 Part E 5.4.1).
package struct Opcode: WireValue, CustomStringConvertible {
    package var rawValue: UInt16

    /// Any number.
    package init(rawValue: UInt16) {
        self.rawValue = rawValue
    }

    /// A command in a group.
    package init(group: UInt16, command: UInt16) {
        rawValue = group << 10 | command & 0x3FF
    }

    /// Stands for no command, in events that only tell how many commands the controller takes (Vol 4 Part E 4.4).
    package static let none = Opcode(rawValue: 0)

    /// OGF.
    package var group: UInt16 { rawValue >> 10 }
    /// OCF.
    package var command: UInt16 { rawValue & 0x3FF }
    /// Whether the maker of the controller defines the command.
    package var isVendorSpecific: Bool { group == 0x3F }

    /// The number in hexadecimal.
    package var description: String { "0x" + String(rawValue, radix: 16) }
}
