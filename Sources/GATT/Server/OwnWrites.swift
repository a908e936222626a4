import ATT
import BluetoothTypes
import L2CAP

/// What a write, or a queue of them, makes of values that are the client's own or the database's.
///
/// A queue is executed part by part in the order of its coming, each part over what is there by then (Core Vol 3 Part F
/// 3.4.6.1 and 3.4.6.3).
struct OwnWrites {
    /// One value.
    struct Entry {
        let source: Attribute.Source
        let handle: UInt16
        /// What it is to be.
        var value: PacketBuffer
        /// When the first part of it began to arrive.
        let moment: LinkMoment
    }

    private(set) var entries: [Entry] = []

    /// Writes a part over the value, which is `current` unless a part before has changed it. Returns why it cannot.
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
        // The rest of a value of fixed length stays, and one of variable length ends here (Part F 3.4.5.1).
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
    /// A configuration has two octets, always (Core Vol 3 Part G 3.3.3.3).
    fileprivate var hasFixedLength: Bool {
        if case .configuration = self { true } else { false }
    }
}
