import ATT
import BluetoothTypes
import L2CAP

/// The effect of a write, or of a queue of writes, on values that the session or the database stores.
///
/// The parts of a queue are applied in order of arrival, each to the result of those before (Core Vol 3 Part F 3.4.6.1
/// and 3.4.6.3).
struct OwnWrites {
    /// The new value of one attribute.
    struct Entry {
        let source: Attribute.Source
        let handle: UInt16
        var value: PacketBuffer
        /// When the first part for it began to arrive.
        let moment: LinkMoment
    }

    private(set) var entries: [Entry] = []

    /// Applies a part to a value, which is `current` unless an earlier part has changed it. Returns an error if it
    /// cannot.
    mutating func add(
        _ part: PreparedWrites.Part,
        to source: Attribute.Source,
        current: PacketBuffer
    ) -> ATTErrorCode? {
        let handle = part.write.handle
        let index = entries.firstIndex { $0.handle == handle }
        let old = index.map { entries[$0].value } ?? current
        let (offset, octets) = (part.write.offset, part.write.value)
        guard offset <= old.count else { return .invalidOffset }
        var value = PacketBuffer(copying: old.prefix(upTo: offset), headroom: 0)
        value.append(contentsOf: octets)
        // A value of fixed length keeps its remainder; one of variable length ends here (Part F 3.4.5.1).
        if source.hasFixedLength { value.append(contentsOf: old.suffix(after: offset + octets.count)) }
        if let index {
            entries[index].value = value
        } else {
            entries.append(Entry(source: source, handle: handle, value: value, moment: part.moment))
        }
        return nil
    }
}

extension Attribute.Source {
    /// Whether the length is fixed: a configuration always has two octets (Core Vol 3 Part G 3.3.3.3).
    fileprivate var hasFixedLength: Bool {
        if case .configuration = self { true } else { false }
    }
}
