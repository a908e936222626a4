/// The USB descriptors of a dongle: a Bluetooth controller at full speed (Core Vol 4 Part B 2.1; USB 2.0 9.6).
package struct DongleDescriptors: Hashable, Sendable {
    /// The maximum packet size of the interrupt endpoint, in octets.
    package static let interruptSize = 16
    /// The maximum packet size of the bulk endpoints, in octets.
    package static let bulkSize = 64
    /// The maximum packet sizes of the isochronous endpoints, in octets, by alternate setting of interface 1.
    static let voiceSizes = [0, 9, 17, 25, 33, 49]

    /// The vendor ID. 0x1209 is shared by projects like this one.
    package var vendor: UInt16 = 0x1209
    /// The product ID below ``vendor``.
    package var product: UInt16 = 0x0B1E
    /// The product name, the string descriptor with index 2.
    package var name = "Harald's dongle"
    /// The serial number, the same each time this dongle is attached.
    package var serialNumber: String
    /// Whether interface 0 has an alternate setting for Bulk Serialization Mode.
    package var offersSerialization: Bool

    package init(serialNumber: String = "1", offersSerialization: Bool = false) {
        self.serialNumber = serialNumber
        self.offersSerialization = offersSerialization
    }

    /// Returns the descriptor of a type and index, or nil if there is none.
    func descriptor(type: UInt8, index: UInt8) -> [UInt8]? {
        switch (type, index) {
        case (1, 0): device
        case (2, 0): configuration
        // The only language is US English.
        case (3, 0): [4, 3, 0x09, 0x04]
        case (3, 1): Self.string("Harald")
        case (3, 2): Self.string(name)
        case (3, 3): Self.string(serialNumber)
        default: nil
        }
    }

    private var device: [UInt8] {
        [18, 1, 0x00, 0x02, 0xE0, 1, 1, 64] + [vendor, product, 0x0100].flatMap(Self.octets) + [1, 2, 3, 1]
    }

    private var configuration: [UInt8] {
        let control = Self.interface(0, alternate: 0, endpoints: [Self.interruptIn, Self.bulkIn, Self.bulkOut])
        // Bulk Serialization Mode uses only bulk endpoints (Core 6.2 Vol 4 Part B).
        let serialized = Self.interface(0, alternate: 1, endpoints: [Self.bulkIn, Self.bulkOut])
        let voice = Self.voiceSizes.enumerated().flatMap { alternate, size in
            Self.interface(
                1,
                alternate: UInt8(alternate),
                endpoints: [0x03, 0x83].map { Self.endpoint($0, type: 1, size: size) }
            )
        }
        let interfaces = control + (offersSerialization ? serialized : []) + voice
        return [9, 2] + Self.octets(UInt16(9 + interfaces.count)) + [2, 1, 0, 0x80, 50] + interfaces
    }

    private static let interruptIn = endpoint(0x81, type: 3, size: interruptSize)
    private static let bulkIn = endpoint(0x82, type: 2, size: bulkSize)
    private static let bulkOut = endpoint(0x02, type: 2, size: bulkSize)

    private static func interface(_ number: UInt8, alternate: UInt8, endpoints: [[UInt8]]) -> [UInt8] {
        [9, 4, number, alternate, UInt8(endpoints.count), 0xE0, 1, 1, 0] + endpoints.flatMap { $0 }
    }

    private static func endpoint(_ address: UInt8, type: UInt8, size: Int) -> [UInt8] {
        [7, 5, address, type] + octets(UInt16(size)) + [type == 2 ? 0 : 1]
    }

    private static func string(_ text: String) -> [UInt8] {
        let units = text.utf16.prefix(126).flatMap(octets)
        return [UInt8(2 + units.count), 3] + units
    }

    private static func octets(_ word: UInt16) -> [UInt8] { [UInt8(word & 0xFF), UInt8(word >> 8)] }
}
