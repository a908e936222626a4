import BluetoothTypes
import Cryptography
import SMP

extension PacketBuffer {
    /// Appends the kind and the six octets of an address.
    mutating func append(address: BluetoothAddress) {
        append(address.kind.rawValue)
        append(contentsOf: address.littleEndianBytes)
    }

    /// Appends a text, preceded by its length in one octet. The caller ensures that it fits.
    mutating func append(text: String) {
        append(UInt8(clamping: text.utf8.count))
        append(contentsOf: Array(text.utf8))
    }

    /// Appends a number of elements in two octets.
    mutating func append(count: Int) {
        append(integer: UInt16(clamping: count))
    }
}

extension ByteReader {
    mutating func address(at field: String) throws(PacketError) -> BluetoothAddress {
        let kind = BluetoothAddress.Kind(rawValue: try integer(at: field))
        // Only the kinds that devices have, not those that a controller assigns to resolved addresses.
        guard kind == .publicDevice || kind == .randomDevice else {
            throw PacketError(.value(UInt64(kind.rawValue)), at: field)
        }
        let octets = try slice(6, at: field)
        return BluetoothAddress(octets.reversed().reduce(0) { $0 << 8 | UInt64($1) }, kind: kind)
    }

    mutating func text(at field: String, atMost maximum: Int) throws(PacketError) -> String {
        let count = Int(try integer(UInt8.self, at: field))
        let octets = try slice(count, at: field)
        guard count <= maximum else { throw PacketError(.length(count), at: field) }
        let text = String(decoding: octets, as: UTF8.self)
        // Invalid UTF-8 is replaced when decoding, so the octets differ.
        guard text.utf8.elementsEqual(octets) else { throw PacketError(.value(0), at: field) }
        return text
    }

    mutating func block(at field: String) throws(PacketError) -> Block128 {
        let octets = try slice(16, at: field)
        guard let block = Block128(octets) else { throw PacketError(.length(octets.count), at: field) }
        return block
    }

    mutating func key(at field: String) throws(PacketError) -> Key128 {
        Key128(try block(at: field))
    }

    mutating func encryptionKey(at field: String) throws(PacketError) -> EncryptionKey {
        EncryptionKey(key: try key(at: field), diversifier: try integer(at: field), random: try integer(at: field))
    }

    /// Reads a list: the number of elements in two octets, followed by the elements. Memory use is bounded by the
    /// octets that are present.
    mutating func list<Element>(
        at field: String,
        _ element: (inout ByteReader) throws(PacketError) -> Element
    ) throws(PacketError) -> [Element] {
        let count = try integer(UInt16.self, at: field)
        var elements: [Element] = []
        for _ in 0..<count { elements.append(try element(&self)) }
        return elements
    }

    /// Reads a table: the number of elements, followed by each handle and its element. Handles have to be in ascending
    /// order.
    mutating func table<Element>(
        at field: String,
        _ element: (inout ByteReader) throws(PacketError) -> Element
    ) throws(PacketError) -> [UInt16: Element] {
        let count = try integer(UInt16.self, at: field)
        var table: [UInt16: Element] = [:]
        var last: UInt16?
        for _ in 0..<count {
            let handle = try integer(UInt16.self, at: field)
            if let last, handle <= last { throw PacketError(.value(UInt64(handle)), at: field) }
            last = handle
            table[handle] = try element(&self)
        }
        return table
    }

    mutating func handles(at field: String) throws(PacketError) -> ClosedRange<UInt16> {
        let (first, last) = (try integer(UInt16.self, at: field), try integer(UInt16.self, at: field))
        guard first <= last else { throw PacketError(.value(UInt64(last)), at: field) }
        return first...last
    }

    mutating func uuid(at field: String) throws(PacketError) -> BluetoothUUID {
        let width = Int(try integer(UInt8.self, at: field))
        guard let uuid = BluetoothUUID(littleEndian: try slice(width, at: field)) else {
            throw PacketError(.length(width), at: field)
        }
        return uuid
    }
}
