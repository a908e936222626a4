/// 128 bits that stay secret: a key, or a value that a key is made from. It never prints what it holds.
package struct Key128: Hashable, Sendable {
    /// The bits.
    package let block: Block128

    /// A key from its 16 octets, the most significant first; nil for another length.
    package init?(_ bytes: some Collection<UInt8>) {
        guard let block = Block128(bytes) else { return nil }
        self.block = block
    }

    /// A key from its 16 octets as they go over the air, the least significant first; nil for another length.
    package init?(littleEndian bytes: some BidirectionalCollection<UInt8>) {
        self.init(bytes.reversed())
    }

    /// The key that a block holds.
    package init(_ block: Block128) { self.block = block }

    /// All bits clear: what stands for no key (Core Vol 3 Part H 2.4.2.2, AB-S11).
    package static let zero = Key128(.zero)

    /// The 16 octets, the most significant first.
    package var bytes: [UInt8] { block.bytes }
    /// The 16 octets as they go over the air, the least significant first.
    package var littleEndianBytes: [UInt8] { block.bytes.reversed() }

    /// The key cut to `size` octets, 7 to 16: the most significant ones become zero (Core Vol 3 Part H 2.3.4).
    package func shortened(to size: Int) -> Key128 {
        guard size < 16 else { return self }
        let kept = bytes.suffix(max(size, 0))
        var cut = [UInt8](repeating: 0, count: 16 - kept.count)
        cut += kept
        return Key128(cut) ?? .zero
    }
}

extension Key128: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// The same, whatever the key is: secrets do not go into logs.
    package var description: String { "secret" }
    /// The same, whatever the key is.
    package var debugDescription: String { "secret" }
    /// Without parts: `dump` does not show them either.
    package var customMirror: Mirror { Mirror(self, children: EmptyCollection<Mirror.Child>()) }
}
