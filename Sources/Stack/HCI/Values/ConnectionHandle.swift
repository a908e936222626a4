import BluetoothTypes

/// A connection handle, which identifies a connection between a host and its controller: 0x0000 to 0x0EFF (Core Vol 4
/// Part E 5.3.1).
package struct ConnectionHandle: WireValue, CustomStringConvertible {
    package var rawValue: UInt16

    /// Creates a handle. Only the 12 low bits are significant.
    package init(rawValue: UInt16) { self.rawValue = rawValue }

    /// The highest handle that a controller may assign.
    package static let maximum = ConnectionHandle(rawValue: 0x0EFF)

    /// The number in hexadecimal.
    package var description: String { "0x" + String(rawValue, radix: 16) }
}
