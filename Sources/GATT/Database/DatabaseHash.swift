import BluetoothTypes
import Cryptography

/// Sixteen octets that stand for the definitions of a database (Core Vol 3 Part G 7.3).
package struct DatabaseHash: Hashable, Sendable, CustomStringConvertible {
    /// The hash as it is on the air, least significant octet first.
    package let octets: [UInt8]

    /// A hash that was read; nil when there are not sixteen octets.
    package init?(_ octets: some Collection<UInt8>) {
        guard octets.count == 16 else { return nil }
        self.octets = Array(octets)
    }

    /// The hash in hexadecimal, most significant octet first.
    package var description: String { hexadecimal(octets.reversed()) }
}

extension DatabaseHash {
    /// The hash of attributes in the order of their handles: AES-CMAC with a key of zeros (Vol 3 Part G 7.3.1).
    init(of attributes: some Sequence<Attribute>) {
        var message: [UInt8] = []
        for attribute in attributes { message += Self.message(attribute) }
        octets = AESCMAC.code(for: message, key: .zero).bytes.reversed()
    }

    /// What of an attribute is hashed: declarations and extended properties with their values, other descriptors that
    /// the specification names without, and nothing else.
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
