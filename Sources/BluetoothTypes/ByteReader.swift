/// A cursor over the octets of a packet. Reading never goes past the end and never copies: a slice shares the packet's
/// storage. After an error the position is where it was.
public struct ByteReader {
    @usableFromInline let buffer: PacketBuffer
    /// How many octets have been read.
    @inlinable public var position: Int { offset }
    @usableFromInline var offset: Int

    /// A cursor at the front of `buffer`.
    @inlinable
    public init(_ buffer: PacketBuffer) {
        self.init(buffer: buffer, position: 0)
    }

    @inlinable
    init(buffer: PacketBuffer, position: Int) {
        self.buffer = buffer
        offset = position
    }

    /// Octets not yet read.
    @inlinable
    public var remaining: Int { buffer.count - position }

    /// Reads a little-endian integer.
    ///
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

    /// Reads `count` octets, 8 at most, as a little-endian integer.
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
    /// - Throws: ``PacketError/Cause/truncated(needed:available:)`` at `field`.
    @inlinable
    public mutating func slice(_ count: Int, at field: String) throws(PacketError) -> PacketBuffer {
        try need(count, at: field)
        let result = buffer.slice(position..<(position + count))
        advance(count)
        return result
    }

    /// Reads everything that is left as a slice.
    @inlinable
    public mutating func rest() -> PacketBuffer {
        let result = buffer.slice(position..<buffer.count)
        advance(remaining)
        return result
    }

    /// Checks that nothing is left.
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

    // Apart, so that the way of a good packet stays short.
    @usableFromInline
    @inline(never)
    func shortage(_ count: Int, at field: String) -> PacketError {
        PacketError(count < 0 ? .length(count) : .truncated(needed: count, available: remaining), at: field)
    }
}
