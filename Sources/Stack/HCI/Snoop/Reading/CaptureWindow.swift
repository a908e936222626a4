import BluetoothTypes

/// The octets of a capture file that have arrived and are not parsed yet.
struct CaptureWindow: Sendable {
    private var octets: [UInt8] = []
    private var start = 0
    /// The number of octets that are still to be dropped without a look.
    private var skipping: UInt64 = 0
    /// The position in the file of the first octet that is not parsed.
    private(set) var offset: UInt64 = 0

    var count: Int { octets.count - start }
    /// Whether everything has been parsed.
    var isAtBoundary: Bool { count == 0 && skipping == 0 }

    mutating func append(_ more: some Collection<UInt8>) {
        // Whatever is parsed is dropped before more arrives, so that the array does not grow with the file.
        if start > 0 { octets.removeFirst(start) }
        start = 0
        // Contiguous octets in one piece: through generic code, the array would append them one by one.
        let isDone: Void? = more.withContiguousStorageIfAvailable { octets.append(contentsOf: $0) }
        if isDone == nil { octets.append(contentsOf: more) }
        drop()
    }

    /// Drops octets, also those that have not arrived yet.
    mutating func skip(_ count: UInt64) {
        skipping += count
        drop()
    }

    private mutating func drop() {
        let now = Int(min(skipping, UInt64(count)))
        start += now
        offset += UInt64(now)
        skipping -= UInt64(now)
    }

    /// The first `count` octets, or nil if fewer have arrived. They stay.
    func peek(_ count: Int) -> FileOctets? {
        guard skipping == 0, self.count >= count else { return nil }
        return FileOctets(octets, from: start, count: count)
    }
}

/// Octets of a file, with integers in both orders. The caller checks that they are there.
struct FileOctets {
    private let storage: [UInt8]
    private let start: Int
    let count: Int

    init(_ storage: [UInt8], from start: Int, count: Int) {
        (self.storage, self.start, self.count) = (storage, start, count)
    }

    subscript(_ index: Int) -> UInt8 {
        precondition(index >= 0 && index < count, "index out of bounds")
        return storage[start + index]
    }

    // Inlined, because each record has several integers, and a call costs more than a load.
    @inline(__always)
    func integer<T: FixedWidthInteger & BitwiseCopyable>(
        _ type: T.Type = T.self,
        at index: Int,
        isBigEndian: Bool
    ) -> T {
        precondition(index >= 0 && index <= count - T.bitWidth / 8, "integer out of bounds")
        let value = storage.withUnsafeBytes { $0.loadUnaligned(fromByteOffset: start + index, as: T.self) }
        return isBigEndian ? T(bigEndian: value) : T(littleEndian: value)
    }

    /// The octets from an index on. They share the storage of all that has arrived.
    func packet(after index: Int, count limit: Int = .max) -> PacketBuffer {
        let first = min(index, count)
        let all = start + first
        return PacketBuffer(storage).slice(all..<(all + min(limit, count - first)))
    }
}
