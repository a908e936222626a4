import BluetoothTypes

/// Names a connection between a host and its controller: 0x0000 to 0x0EFF (Core Vol 4 Part E 5.3.1).
public struct ConnectionHandle: WireValue, CustomStringConvertible {
    /// The number on the wire.
    public var rawValue: UInt16

    /// Any number; only the 12 low bits name a connection.
    public init(rawValue: UInt16) {
        self.rawValue = rawValue
    }

    /// The highest number that a controller may use.
    public static let maximum = ConnectionHandle(rawValue: 0x0EFF)

    /// The number in hexadecimal.
    public var description: String { "0x" + String(rawValue, radix: 16) }
}
