/// Fills fields from octets.
public struct FieldReader: FieldCoder {
    /// The octets that are left.
    public var bytes: ByteReader

    /// Reads from the front of `buffer`.
    @inlinable
    public init(_ buffer: PacketBuffer) {
        bytes = ByteReader(buffer)
    }

    /// Always true.
    @inlinable public var isReading: Bool { true }
    /// Octets not yet read.
    @inlinable public var remaining: Int { bytes.remaining }

    /// Reads a little-endian integer.
    @inlinable
    public mutating func field<T: FixedWidthInteger>(_ name: String, _ value: inout T) throws(PacketError) {
        value = try bytes.integer(T.self, at: name)
    }

    /// Reads three octets, least significant first.
    @inlinable
    public mutating func uint24(_ name: String, _ value: inout UInt32) throws(PacketError) {
        value = UInt32(truncatingIfNeeded: try bytes.octets(3, at: name))
    }

    /// Reads six octets, least significant first.
    @inlinable
    public mutating func uint48(_ name: String, _ value: inout UInt64) throws(PacketError) {
        value = try bytes.octets(6, at: name)
    }

    /// Takes a slice of `count` octets.
    @inlinable
    public mutating func bytes(_ name: String, _ value: inout PacketBuffer, count: Int) throws(PacketError) {
        value = try bytes.slice(count, at: name)
    }

    /// Takes a slice of `count` octets.
    @inlinable
    public mutating func secret(_ name: String, _ value: inout PacketBuffer, count: Int) throws(PacketError) {
        try bytes(name, &value, count: count)
    }

    /// Reads a length, then takes a slice of so many octets.
    @inlinable
    public mutating func countedBytes(_ name: String, _ value: inout PacketBuffer) throws(PacketError) {
        let before = bytes.offset
        let length = try bytes.integer(UInt8.self, at: name)
        do throws(PacketError) {
            value = try bytes.slice(Int(length), at: name)
        } catch {
            bytes.offset = before
            throw error
        }
    }

    /// Takes everything that is left as a slice.
    @inlinable
    public mutating func rest(_ name: String, _ value: inout PacketBuffer) throws(PacketError) {
        value = bytes.rest()
    }

    /// Nothing: notes are for readers of logs.
    @inlinable public mutating func note(_ name: String, _ text: @autoclosure () -> String) {}
    /// Nothing.
    @inlinable public mutating func begin(_ name: String) {}
    /// Nothing.
    @inlinable public mutating func end() {}
}
