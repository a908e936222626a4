import BluetoothTypes
import Cryptography
import SMP

extension PacketBuffer {
    /// The kind and the six octets of an address.
    mutating func append(address: BluetoothAddress) {
        append(address.kind.rawValue)
        append(contentsOf: address.littleEndianBytes)
    }

    /// Text with the number of its octets in front, one octet; whoever writes has made sure that it fits.
    mutating func append(text: String) {
        append(UInt8(clamping: text.utf8.count))
        append(contentsOf: Array(text.utf8))
    }

    /// A number of elements, two octets.
    mutating func append(count: Int) {
        append(integer: UInt16(clamping: count))
    }
}

extension ByteReader {
    mutating func address(at field: String) throws(PacketError) -> BluetoothAddress {
        let kind = BluetoothAddress.Kind(rawValue: try integer(at: field))
        // Kinds of a device itself, not those that a controller gives to what it has resolved.
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
        // What is no UTF-8 becomes something else.
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

    /// Elements with their number in front, two octets. Memory grows with the octets that are there.
    mutating func list<Element>(
        at field: String,
        _ element: (inout ByteReader) throws(PacketError) -> Element
    ) throws(PacketError) -> [Element] {
        let count = try integer(UInt16.self, at: field)
        var elements: [Element] = []
        for _ in 0..<count { elements.append(try element(&self)) }
        return elements
    }

    /// Elements by handle with their number in front; handles only go up.
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
