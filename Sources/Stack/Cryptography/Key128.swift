/// A secret 128-bit value: a key, or the input to a key derivation. Its descriptions never reveal it.
package struct Key128: Hashable, Sendable {
    /// The secret bits. Unlike the key, a block prints its contents.
    package let block: Block128

    /// Creates a key from 16 octets, most significant first. Returns nil for any other length.
    package init?(_ bytes: some Collection<UInt8>) {
        guard let block = Block128(bytes) else { return nil }
        self.block = block
    }

    /// Creates a key from 16 octets in over-the-air order, least significant first. Returns nil for any other length.
    package init?(littleEndian bytes: some BidirectionalCollection<UInt8>) {
        self.init(bytes.reversed())
    }

    package init(_ block: Block128) { self.block = block }

    /// The all-zero key, which stands for "no key" (Core Vol 3 Part H 2.4.2.2, AB-S11).
    package static let zero = Key128(.zero)

    /// The 16 octets, most significant first.
    package var bytes: [UInt8] { block.bytes }
    /// The 16 octets in over-the-air order, least significant first.
    package var littleEndianBytes: [UInt8] { block.bytes.reversed() }

    /// Returns the key reduced to `size` octets (7 to 16) by zeroing the most significant ones (Core Vol 3 Part H
    /// 2.3.4).
    package func shortened(to size: Int) -> Key128 {
        guard size < 16 else { return self }
        let kept = bytes.suffix(max(size, 0))
        var cut = [UInt8](repeating: 0, count: 16 - kept.count)
        cut += kept
        return Key128(cut) ?? .zero
    }
}

extension Key128: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// A constant, so that keys never reach logs.
    package var description: String { "secret" }
    package var debugDescription: String { "secret" }
    /// An empty mirror, so that `dump` does not reveal the key either.
    package var customMirror: Mirror { Mirror(self, children: EmptyCollection<Mirror.Child>()) }
}
