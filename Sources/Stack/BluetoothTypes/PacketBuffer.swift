/// The bytes of one packet: a slice of shared storage, with optional headroom for the headers of lower layers.
///
/// A value travels from an app to the controller in one buffer. Each layer prepends its header into the headroom, so
/// that the value is copied only once. On the way up each layer takes a slice, which shares the storage. Copy-on-write
/// preserves value semantics when two slices of one storage are written.
///
/// Indices start at 0, wherever in the storage the slice begins.
public struct PacketBuffer: Sendable {
    /// The headroom, in octets, for every header between an attribute value and the controller.
    ///
    /// These are HCI ACL (4), L2CAP (4), SDU length (2), ATT opcode, handle and offset (5), and an H4 packet type (1).
    public static let defaultHeadroom = 16

    @usableFromInline var storage: [UInt8]
    @usableFromInline var start: Int
    @usableFromInline var end: Int

    /// Creates an empty buffer with `headroom` octets in front and room for `capacity` octets.
    @inlinable
    public init(headroom: Int = PacketBuffer.defaultHeadroom, capacity: Int = 0) {
        storage = []
        if headroom + capacity > 0 { storage.reserveCapacity(headroom + capacity) }
        // One by one: creating the array from its contents goes through generic code, at twice the cost.
        for _ in 0..<headroom { storage.append(0) }
        start = headroom
        end = headroom
    }

    /// Creates a buffer that adopts `bytes` as its storage, without headroom and without a copy.
    @inlinable
    public init(_ bytes: [UInt8]) {
        storage = bytes
        start = 0
        end = bytes.count
    }

    /// Creates a buffer with a copy of `bytes` and headroom in front.
    @inlinable
    public init(copying bytes: some Collection<UInt8>, headroom: Int = PacketBuffer.defaultHeadroom) {
        self.init(headroom: headroom, capacity: bytes.count)
        append(contentsOf: bytes)
    }

    /// The octets as an array. No copy is made if the buffer covers all of its storage.
    @inlinable
    public var bytes: [UInt8] {
        start == 0 && end == storage.count ? storage : Array(storage[start..<end])
    }

    /// The number of octets that can be prepended before the storage has to grow.
    @inlinable
    public var headroom: Int { start }

    /// Returns the octets in `range`. The slice shares this buffer's storage.
    ///
    /// - Precondition: `range` lies within `0..<count`. For untrusted lengths use ``ByteReader``.
    @inlinable
    public func slice(_ range: Range<Int>) -> PacketBuffer {
        precondition(range.lowerBound >= 0 && range.upperBound <= count, "slice out of bounds")
        var result = self
        result.start = start + range.lowerBound
        result.end = start + range.upperBound
        return result
    }

    /// Returns up to `length` octets from the start.
    @inlinable
    public func prefix(upTo length: Int) -> PacketBuffer {
        slice(0..<Swift.min(Swift.max(length, 0), count))
    }

    /// Returns everything after the first `length` octets; empty if there is nothing.
    @inlinable
    public func suffix(after length: Int) -> PacketBuffer {
        slice(Swift.min(Swift.max(length, 0), count)..<count)
    }

    /// Appends one octet after the last one of this buffer.
    @inlinable
    public mutating func append(_ byte: UInt8) {
        dropTail()
        storage.append(byte)
        end += 1
    }

    /// Appends octets after the last one of this buffer.
    @inlinable
    public mutating func append(contentsOf bytes: some Collection<UInt8>) {
        dropTail()
        // Appends contiguous octets in one piece; the array would append them one by one.
        let isDone: Void? = bytes.withContiguousStorageIfAvailable { storage.append(contentsOf: $0) }
        if isDone == nil { storage.append(contentsOf: bytes) }
        end = storage.count
    }

    /// Appends the octets of another buffer.
    @inlinable
    public mutating func append(contentsOf other: PacketBuffer) {
        dropTail()
        storage.append(contentsOf: other.storage[other.start..<other.end])
        end = storage.count
    }

    /// Appends an integer, least significant octet first.
    @inlinable
    public mutating func append<T: FixedWidthInteger>(integer value: T) {
        dropTail()
        // Octet by octet: for so few octets, the fixed cost of the array's bulk append outweighs the rest.
        var rest = value
        var left = T.bitWidth / 8
        while left > 0 {
            storage.append(UInt8(truncatingIfNeeded: rest))
            rest &>>= 8
            left -= 1
        }
        end = storage.count
    }

    /// Prepends one octet, into the headroom if there is some.
    @inlinable
    public mutating func prepend(_ byte: UInt8) {
        makeHeadroom(1)
        start -= 1
        storage[start] = byte
    }

    /// Prepends an integer, least significant octet first, into the headroom if there is enough.
    @inlinable
    public mutating func prepend<T: FixedWidthInteger>(integer value: T) {
        let size = T.bitWidth / 8
        makeHeadroom(size)
        start -= size
        var rest = value
        var index = start
        while index < start + size {
            storage[index] = UInt8(truncatingIfNeeded: rest)
            rest &>>= 8
            index += 1
        }
    }

    /// Returns a little-endian integer of `count` octets. The caller has checked that they lie within the slice.
    @inlinable
    func littleEndian<T: FixedWidthInteger>(_ type: T.Type, at position: Int, octets count: Int) -> T {
        precondition(position >= 0 && count >= 0 && position <= end - start - count, "integer out of bounds")
        precondition(count <= T.bitWidth / 8, "more octets than the integer type holds")
        let first = start + position
        return storage.withUnsafeBufferPointer { octets in
            if count == 1 { return T(truncatingIfNeeded: octets[first]) }
            var value: T = 0
            var index = first + count
            while index > first {
                index -= 1
                value = (value &<< 8) | T(truncatingIfNeeded: octets[index])
            }
            return value
        }
    }

    /// Calls `body` with the octets in place. The pointer is valid only during the call.
    @inlinable
    public func withUnsafeBytes<R, E: Error>(_ body: (UnsafeRawBufferPointer) throws(E) -> R) throws(E) -> R {
        let range = start..<end
        // The typed-throws form of Array.withUnsafeBytes only rethrows, hence the Result in between.
        let result: Result<R, E> = storage.withUnsafeBytes { all in
            do throws(E) {
                return .success(try body(UnsafeRawBufferPointer(rebasing: all[range])))
            } catch {
                return .failure(error)
            }
        }
        return try result.get()
    }

    /// Drops the octets behind the slice, which belong to another slice of the storage, before anything is appended.
    @inlinable
    mutating func dropTail() {
        if end < storage.count { storage.removeSubrange(end...) }
    }

    @inlinable
    mutating func makeHeadroom(_ needed: Int) {
        guard start < needed else { return }
        let grow = Swift.max(needed, PacketBuffer.defaultHeadroom)
        storage.insert(contentsOf: [UInt8](repeating: 0, count: grow), at: 0)
        start += grow
        end += grow
    }
}

extension PacketBuffer: RandomAccessCollection {
    /// Always 0, also for slices.
    @inlinable public var startIndex: Int { 0 }
    /// The number of octets.
    @inlinable public var endIndex: Int { end - start }

    // The standard implementations derive these from the indices through generic code, and every packet uses them
    // often.

    /// The number of octets.
    @inlinable public var count: Int { end - start }
    /// Whether there are no octets.
    @inlinable public var isEmpty: Bool { end == start }
    /// Returns the position after `position`.
    @inlinable public func index(after position: Int) -> Int { position + 1 }
    /// Returns the position before `position`.
    @inlinable public func index(before position: Int) -> Int { position - 1 }
    /// Returns the position `distance` octets after `position`.
    @inlinable public func index(_ position: Int, offsetBy distance: Int) -> Int { position + distance }
    /// Returns the number of octets from one position to another.
    @inlinable public func distance(from start: Int, to end: Int) -> Int { end - start }

    /// The octet at `position`, counted from the start of the slice.
    ///
    /// - Precondition: `position` lies within `0..<count`.
    @inlinable
    public subscript(position: Int) -> UInt8 {
        get {
            precondition(position >= 0 && position < end - start, "index out of bounds")
            return storage[start + position]
        }
        set {
            precondition(position >= 0 && position < end - start, "index out of bounds")
            storage[start + position] = newValue
        }
    }

    /// Calls `body` with the octets in place. The pointer is valid only during the call.
    @inlinable
    public func withContiguousStorageIfAvailable<R>(_ body: (UnsafeBufferPointer<UInt8>) throws -> R) rethrows -> R? {
        let range = start..<end
        return try storage.withUnsafeBufferPointer { try body(UnsafeBufferPointer(rebasing: $0[range])) }
    }
}

extension PacketBuffer: Hashable {
    /// Compares the octets; headroom does not matter.
    public static func == (a: PacketBuffer, b: PacketBuffer) -> Bool {
        a.count == b.count && a.storage[a.start..<a.end] == b.storage[b.start..<b.end]
    }

    /// Hashes the octets; headroom does not matter.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(count)
        withUnsafeBytes { hasher.combine(bytes: $0) }
    }
}

extension PacketBuffer: ExpressibleByArrayLiteral {
    /// Creates a buffer of the given octets, without headroom.
    @inlinable
    public init(arrayLiteral elements: UInt8...) {
        self.init(elements)
    }
}

extension PacketBuffer: CustomStringConvertible {
    /// The octets in lower-case hexadecimal, without separators.
    public var description: String { hexadecimal(self) }
}

/// Returns the octets in lower-case hexadecimal, without separators.
public func hexadecimal(_ bytes: some Collection<UInt8>) -> String {
    let digits = Array("0123456789abcdef".utf8)
    var text: [UInt8] = []
    text.reserveCapacity(bytes.count * 2)
    for byte in bytes {
        text.append(digits[Int(byte >> 4)])
        text.append(digits[Int(byte & 0xF)])
    }
    return String(decoding: text, as: UTF8.self)
}

/// Decodes hexadecimal digits. Returns nil for any other text.
package func octets(hexadecimal text: some StringProtocol) -> [UInt8]? {
    let digits = text.compactMap(\.hexDigitValue)
    guard digits.count == text.count, digits.count.isMultiple(of: 2) else { return nil }
    return stride(from: 0, to: digits.count, by: 2).map { UInt8(digits[$0] << 4 | digits[$0 + 1]) }
}
