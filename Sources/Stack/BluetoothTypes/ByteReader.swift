/// A bounds-checked cursor over the octets of a packet.
///
/// Reading never copies: a slice shares the storage of the packet. A read that throws leaves the position unchanged.
public struct ByteReader {
    @usableFromInline let buffer: PacketBuffer
    /// The number of octets read so far.
    @inlinable public var position: Int { offset }
    @usableFromInline var offset: Int

    /// Creates a cursor at the start of `buffer`.
    @inlinable
    public init(_ buffer: PacketBuffer) {
        self.init(buffer: buffer, position: 0)
    }

    @inlinable
    init(buffer: PacketBuffer, position: Int) {
        self.buffer = buffer
        offset = position
    }

    /// The number of octets left.
    @inlinable
    public var remaining: Int { buffer.count - position }

    /// Reads a little-endian integer.
    ///
    /// - Parameters:
    ///   - type: The type of the integer, which determines the number of octets.
    ///   - field: The name of the field, for the error.
    /// - Throws: ``PacketError/Cause/truncated(needed:available:)`` at `field`.
    @inlinable
    @inline(__always)
    public mutating func integer<T: FixedWidthInteger>(
        _ type: T.Type = T.self,
        at field: String
    ) throws(PacketError) -> T {
        let size = T.bitWidth / 8
        try need(size, at: field)
        let value = buffer.littleEndian(T.self, at: offset, octets: size)
        advance(size)
        return value
    }

    /// Reads `count` octets, at most 8, as a little-endian integer.
    ///
    /// - Throws: ``PacketError/Cause/truncated(needed:available:)`` at `field`.
    @inlinable
    @inline(__always)
    mutating func octets(_ count: Int, at field: String) throws(PacketError) -> UInt64 {
        try need(count, at: field)
        let value = buffer.littleEndian(UInt64.self, at: offset, octets: count)
        advance(count)
        return value
    }

    /// Reads `count` octets as a slice.
    ///
    /// - Throws: ``PacketError/Cause/truncated(needed:available:)`` at `field`, or ``PacketError/Cause/length(_:)`` if
    ///   `count` is negative.
    @inlinable
    public mutating func slice(_ count: Int, at field: String) throws(PacketError) -> PacketBuffer {
        try need(count, at: field)
        let result = buffer.slice(position..<(position + count))
        advance(count)
        return result
    }

    /// Reads all remaining octets as a slice.
    @inlinable
    public mutating func rest() -> PacketBuffer {
        let result = buffer.slice(position..<buffer.count)
        advance(remaining)
        return result
    }

    /// Checks that no octets are left.
    ///
    /// - Throws: ``PacketError/Cause/trailing(_:)`` at `field`.
    @inlinable
    public func end(at field: String) throws(PacketError) {
        if remaining > 0 { throw PacketError(.trailing(remaining), at: field) }
    }

    @inlinable
    mutating func advance(_ count: Int) {
        offset += count
    }

    @inlinable
    @inline(__always)
    func need(_ count: Int, at field: String) throws(PacketError) {
        guard count >= 0, remaining >= count else { throw shortage(count, at: field) }
    }

    // Not inlined, to keep the path of a valid packet short.
    @usableFromInline
    @inline(never)
    func shortage(_ count: Int, at field: String) -> PacketError {
        PacketError(count < 0 ? .length(count) : .truncated(needed: count, available: remaining), at: field)
    }
}
