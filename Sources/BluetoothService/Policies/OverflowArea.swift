import BluetoothTypes

/// The overflow area: 128 bits, one for each of the services that an Apple device offers and has no room to name.
///
/// A service sets the bit that a hash of its UUID names, so several services share a bit: a set bit means "perhaps"
/// (behaviours 2.31 to 2.35). The format is Apple's own; the hash is known from observation.
package struct OverflowArea: Hashable, Sendable {
    /// Octets of the structure on the air, header included.
    package static let encodedLength = 21
    /// The type octet that announces the bits, which no length octet follows.
    private static let appleType: UInt8 = 0x01
    private static let bitCount = 128

    /// The bits, the first octet on the air in front.
    package private(set) var mask: [UInt8]

    /// No bit set.
    package init() {
        mask = [UInt8](repeating: 0, count: Self.bitCount / 8)
    }

    /// The bits of these services.
    package init(_ services: some Sequence<BluetoothUUID>) {
        self.init(bits: services.map(Self.index))
    }

    /// The bits with these numbers, ``index(of:)``.
    package init(bits: some Sequence<Int>) {
        self.init()
        for bit in bits { mask[bit / 8] |= 0x80 >> (bit % 8) }
    }

    /// Finds the area in received data; nil when there is none.
    package init?(in data: AdvertisingData) {
        for payload in data.manufacturerData(of: .apple)
        where payload.count == 1 + Self.bitCount / 8 && payload[0] == Self.appleType {
            mask = payload.suffix(after: 1).bytes
            return
        }
        return nil
    }

    /// The number of the bit of `service`: a CRC of 8 bits (polynomial 0x09, initial value 0x15, most significant bit first)
    /// over the UUID at full width as printed, without its top bit (behaviour 2.33).
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

    /// Whether `service`, or another one with its bit, is in the area.
    package func mayContain(_ service: BluetoothUUID) -> Bool {
        contains(bit: Self.index(of: service))
    }

    /// Whether the bit with this number is set.
    package func contains(bit: Int) -> Bool { mask[bit / 8] & (0x80 >> (bit % 8)) != 0 }

    /// Whether both have a bit set.
    package func intersects(_ other: OverflowArea) -> Bool { zip(mask, other.mask).contains { $0 & $1 != 0 } }

    /// The structure on the air.
    package var structure: AdvertisingStructure {
        .manufacturerData(.apple, PacketBuffer([Self.appleType] + mask))
    }
}
