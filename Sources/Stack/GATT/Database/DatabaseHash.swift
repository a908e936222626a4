import BluetoothTypes
import Cryptography

/// A Database Hash: sixteen octets that identify the definitions of a database (Core Vol 3 Part G 7.3).
package struct DatabaseHash: Hashable, Sendable, CustomStringConvertible {
    /// The hash in its transmission order, least significant octet first.
    package let octets: [UInt8]

    /// Creates a hash that was read from a server; nil unless there are sixteen octets.
    package init?(_ octets: some Collection<UInt8>) {
        guard octets.count == 16 else { return nil }
        self.octets = Array(octets)
    }

    /// The hash in hexadecimal, most significant octet first.
    package var description: String { hexadecimal(octets.reversed()) }
}

extension DatabaseHash {
    /// Computes the hash of attributes in handle order: AES-CMAC with an all-zero key (Vol 3 Part G 7.3.1).
    init(of attributes: some Sequence<Attribute>) {
        var message: [UInt8] = []
        for attribute in attributes { message += Self.message(attribute) }
        octets = AESCMAC.code(for: message, key: .zero).bytes.reversed()
    }

    /// The hashed part of an attribute: handle, type and value of declarations and extended properties; handle and type
    /// of the other descriptors that the specification lists; otherwise nothing.
    private static func message(_ attribute: Attribute) -> [UInt8] {
        guard let type = attribute.type.uint16 else { return [] }
        var message: [UInt8] = []
        switch type {
        case 0x2800, 0x2801, 0x2802, 0x2803, 0x2900:
            if case .fixed(let value) = attribute.source { message = value.bytes }
        case 0x2901, 0x2902, 0x2903, 0x2904, 0x2905: break
        default: return []
        }
        let handle = attribute.handle
        return [
            UInt8(truncatingIfNeeded: handle), UInt8(handle >> 8), UInt8(truncatingIfNeeded: type), UInt8(type >> 8),
        ] + message
    }
}
