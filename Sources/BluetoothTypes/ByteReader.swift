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
    public mutating func integer<T: FixedWidthInteger>(
        _ type: T.Type = T.self,
        at field: String
    ) throws(PacketError) -> T {
        let size = T.bitWidth / 8
        try need(size, at: field)
        var value: T = 0
        for index in 0..<size {
            value |= T(truncatingIfNeeded: buffer[position + index]) << (index * 8)
        }
        advance(size)
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
    func need(_ count: Int, at field: String) throws(PacketError) {
        guard count >= 0 else { throw PacketError(.length(count), at: field) }
        guard remaining >= count else {
            throw PacketError(.truncated(needed: count, available: remaining), at: field)
        }
    }
}
