/// A coder that reads fields from octets.
public struct FieldReader: FieldCoder {
    /// The cursor over the octets.
    public var bytes: ByteReader

    /// Creates a reader at the start of `buffer`.
    @inlinable
    public init(_ buffer: PacketBuffer) {
        bytes = ByteReader(buffer)
    }

    /// True, so that `code(_:)` validates the values.
    @inlinable public var isReading: Bool { true }
    /// The number of octets left.
    @inlinable public var remaining: Int { bytes.remaining }

    /// Reads a little-endian integer.
    ///
    /// - Throws: ``PacketError`` at `name` if octets are missing.
    @inlinable
    public mutating func field<T: FixedWidthInteger>(_ name: String, _ value: inout T) throws(PacketError) {
        value = try bytes.integer(T.self, at: name)
    }

    /// Reads three octets, least significant first.
    ///
    /// - Throws: ``PacketError`` at `name` if octets are missing.
    @inlinable
    public mutating func uint24(_ name: String, _ value: inout UInt32) throws(PacketError) {
        value = UInt32(truncatingIfNeeded: try bytes.octets(3, at: name))
    }

    /// Reads six octets, least significant first.
    ///
    /// - Throws: ``PacketError`` at `name` if octets are missing.
    @inlinable
    public mutating func uint48(_ name: String, _ value: inout UInt64) throws(PacketError) {
        value = try bytes.octets(6, at: name)
    }

    /// Reads `count` octets as a slice, which shares the storage.
    ///
    /// - Throws: ``PacketError`` at `name` if octets are missing.
    @inlinable
    public mutating func bytes(_ name: String, _ value: inout PacketBuffer, count: Int) throws(PacketError) {
        value = try bytes.slice(count, at: name)
    }

    /// Reads `count` octets as a slice, which shares the storage.
    ///
    /// - Throws: ``PacketError`` at `name` if octets are missing.
    @inlinable
    public mutating func secret(_ name: String, _ value: inout PacketBuffer, count: Int) throws(PacketError) {
        try bytes(name, &value, count: count)
    }

    /// Reads a length octet and a slice of that length. If the slice is truncated, the length counts as unread too.
    ///
    /// - Throws: ``PacketError`` at `name` if octets are missing.
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

    /// Reads all remaining octets as a slice.
    @inlinable
    public mutating func rest(_ name: String, _ value: inout PacketBuffer) throws(PacketError) {
        value = bytes.rest()
    }

    /// Does nothing: notes are for logs.
    @inlinable public mutating func note(_ name: String, _ text: @autoclosure () -> String) {}
    /// Does nothing: parts have no mark on the wire.
    @inlinable public mutating func begin(_ name: String) {}
    /// Does nothing: parts have no mark on the wire.
    @inlinable public mutating func end() {}
}
