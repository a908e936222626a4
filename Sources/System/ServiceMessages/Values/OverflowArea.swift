import BluetoothTypes

/// The overflow area: 128 bits that represent the services which an Apple device offers but has no room to list.
///
/// A service sets the bit that a hash of its UUID selects. Several services share a bit, so a set bit means "perhaps"
/// (behaviours 2.31 to 2.35). The format is Apple's own. The hash is known from observation.
package struct OverflowArea: Hashable, Sendable {
    /// The length of the structure on the air, in octets, including its header.
    package static let encodedLength = 21
    /// The type octet before the bits. No length octet follows it.
    private static let appleType: UInt8 = 0x01
    private static let bitCount = 128

    /// The bits, in the order of the octets on the air.
    package private(set) var mask: [UInt8]

    package init() {
        mask = [UInt8](repeating: 0, count: Self.bitCount / 8)
    }

    package init(_ services: some Sequence<BluetoothUUID>) {
        self.init(bits: services.map(Self.index))
    }

    /// Creates an area with these bits set, numbered as in ``index(of:)``.
    package init(bits: some Sequence<Int>) {
        self.init()
        for bit in bits { mask[bit / 8] |= 0x80 >> (bit % 8) }
    }

    /// Finds the area in received data. Returns nil if there is none.
    package init?(in data: AdvertisingData) {
        for payload in data.manufacturerData(of: .apple)
        where payload.count == 1 + Self.bitCount / 8 && payload[0] == Self.appleType {
            mask = payload.suffix(after: 1).bytes
            return
        }
        return nil
    }

    /// Returns the bit number of `service`: a CRC of 8 bits (polynomial 0x09, initial value 0x15, most significant bit
    /// first) over the 128-bit UUID in big-endian order, without its top bit (behaviour 2.33).
    package static func index(of service: BluetoothUUID) -> Int {
        var crc: UInt8 = 0x15
        for octet in service.expanded.bigEndianBytes {
            crc ^= octet
            for _ in 0..<8 {
                crc = crc & 0x80 != 0 ? crc << 1 ^ 0x09 : crc << 1
            }
        }
        return Int(crc & 0x7F)
    }

    /// Whether the area contains `service` or another service with the same bit.
    package func mayContain(_ service: BluetoothUUID) -> Bool {
        contains(bit: Self.index(of: service))
    }

    package func contains(bit: Int) -> Bool { mask[bit / 8] & (0x80 >> (bit % 8)) != 0 }

    package func intersects(_ other: OverflowArea) -> Bool { zip(mask, other.mask).contains { $0 & $1 != 0 } }

    package var structure: AdvertisingStructure {
        .manufacturerData(.apple, PacketBuffer([Self.appleType] + mask))
    }
}
