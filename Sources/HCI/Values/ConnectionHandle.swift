import BluetoothTypes

/// Names a connection between a host and its controller: 0x0000 to 0x0EFF (Core Vol 4 Part E 5.3.1).
package struct ConnectionHandle: WireValue, CustomStringConvertible {
    package var rawValue: UInt16

    /// Any number; only the 12 low bits name a connection.
    package init(rawValue: UInt16) {
        self.rawValue = rawValue
    }

    /// The highest number that a controller may use.
    package static let maximum = ConnectionHandle(rawValue: 0x0EFF)

    /// The number in hexadecimal.
    package var description: String { "0x" + String(rawValue, radix: 16) }
}
