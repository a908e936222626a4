/// A coder that appends fields to a buffer. It never throws.
public struct FieldWriter: FieldCoder {
    /// The octets so far.
    public var buffer: PacketBuffer

    /// Creates a writer that appends to `buffer`.
    @inlinable
    public init(_ buffer: PacketBuffer) {
        self.buffer = buffer
    }

    /// False: a writer changes no values.
    @inlinable public var isReading: Bool { false }
    /// 0, since there is no input.
    @inlinable public var remaining: Int { 0 }

    /// Appends a little-endian integer.
    @inlinable
    public mutating func field<T: FixedWidthInteger>(_ name: String, _ value: inout T) throws(PacketError) {
        buffer.append(integer: value)
    }

    /// Appends the three low octets, least significant first.
    @inlinable
    public mutating func uint24(_ name: String, _ value: inout UInt32) throws(PacketError) {
        buffer.append(integer: UInt16(truncatingIfNeeded: value))
        buffer.append(UInt8(truncatingIfNeeded: value >> 16))
    }

    /// Appends the six low octets, least significant first.
    @inlinable
    public mutating func uint48(_ name: String, _ value: inout UInt64) throws(PacketError) {
        buffer.append(integer: UInt32(truncatingIfNeeded: value))
        buffer.append(integer: UInt16(truncatingIfNeeded: value >> 32))
    }

    /// Appends exactly `count` octets. A shorter value is padded with zeros, a longer one is truncated.
    @inlinable
    public mutating func bytes(_ name: String, _ value: inout PacketBuffer, count: Int) throws(PacketError) {
        buffer.append(contentsOf: value.prefix(upTo: count))
        if value.count < count { buffer.append(contentsOf: repeatElement(0, count: count - value.count)) }
    }

    /// Appends exactly `count` octets, as ``bytes(_:_:count:)`` does.
    @inlinable
    public mutating func secret(_ name: String, _ value: inout PacketBuffer, count: Int) throws(PacketError) {
        try bytes(name, &value, count: count)
    }

    /// Appends a length octet and the value, truncated to 255 octets.
    @inlinable
    public mutating func countedBytes(_ name: String, _ value: inout PacketBuffer) throws(PacketError) {
        let value = value.prefix(upTo: 255)
        buffer.append(UInt8(value.count))
        buffer.append(contentsOf: value)
    }

    /// Appends all octets, without a length.
    @inlinable
    public mutating func rest(_ name: String, _ value: inout PacketBuffer) throws(PacketError) {
        buffer.append(contentsOf: value)
    }

    /// Does nothing: notes are for logs.
    @inlinable public mutating func note(_ name: String, _ text: @autoclosure () -> String) {}
    /// Does nothing: parts have no mark on the wire.
    @inlinable public mutating func begin(_ name: String) {}
    /// Does nothing: parts have no mark on the wire.
    @inlinable public mutating func end() {}
}
