import BluetoothTypes
import Security

/// The record of a slot, of any type.
enum KeptRecord: Hashable, Sendable {
    case app(AppRecord)
    case permissions(PermissionRecord)
    case names(NameRecord)
    case tables(TableRecord)
    case controllers(ControllerRecord)
    case accessories(AccessoryRecord)

    /// Returns the encoded record.
    ///
    /// Encoding a large record is slow, so this is called on the storage's thread.
    ///
    /// - Throws: ``RecordError`` if decoding would not restore the same record. Such a record is not written.
    func encoded(for slot: RecordSlot) throws(RecordError) -> [UInt8] {
        switch self {
        case .app(let record): try Self.encode(record, slot)
        case .permissions(let record): try Self.encode(record, slot)
        case .names(let record): try Self.encode(record, slot)
        case .tables(let record): try Self.encode(record, slot)
        case .controllers(let record): try Self.encode(record, slot)
        case .accessories(let record): try Self.encode(record, slot)
        }
    }

    private static func encode<Record: PacketFields & Equatable>(
        _ record: Record,
        _ slot: RecordSlot
    ) throws(RecordError) -> [UInt8] {
        let octets = record.encoded()
        guard (try? Record(reading: octets)) == record else {
            throw .unavailable(reason: "a value in \(slot.name) is out of range; the older record remains")
        }
        return octets.bytes
    }
}
