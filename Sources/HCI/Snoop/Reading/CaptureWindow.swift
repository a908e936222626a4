import BluetoothTypes

/// The octets of a capture file that have arrived and are not parsed yet.
struct CaptureWindow: Sendable {
    private var octets: [UInt8] = []
    private var start = 0
    /// The number of octets that are still to be dropped without a look.
    private var skipping: UInt64 = 0
    /// The position in the file of the first octet that is not parsed.
    private(set) var offset: UInt64 = 0

    /// The number of octets that wait.
    var count: Int { octets.count - start }
    /// Whether everything has been parsed.
    var isAtBoundary: Bool { count == 0 && skipping == 0 }

    mutating func append(_ more: some Collection<UInt8>) {
        // Whatever is parsed is dropped before more arrives, so that the array does not grow with the file.
        if start > 0 { octets.removeFirst(start) }
        start = 0
        octets.append(contentsOf: more)
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
        return FileOctets(octets[start..<(start + count)])
    }
}

/// Octets of a file, with integers in both orders. The caller checks that they are there.
struct FileOctets {
    private let octets: ArraySlice<UInt8>

    init(_ octets: ArraySlice<UInt8>) { self.octets = octets }

    var count: Int { octets.count }

    subscript(_ index: Int) -> UInt8 { octets[octets.startIndex + index] }

    func integer<T: FixedWidthInteger>(_ type: T.Type = T.self, at index: Int, isBigEndian: Bool) -> T {
        let size = T.bitWidth / 8
        return (0..<size).reduce(0) { value, place in
            let octet = T(truncatingIfNeeded: self[index + place])
            return value | octet &<< T(truncatingIfNeeded: 8 * (isBigEndian ? size - 1 - place : place))
        }
    }

    /// A copy of the octets from an index on.
    func packet(after index: Int, count: Int? = nil) -> PacketBuffer {
        PacketBuffer([UInt8](octets.dropFirst(index).prefix(count ?? octets.count)))
    }
}
