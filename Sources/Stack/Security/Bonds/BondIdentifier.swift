import BluetoothTypes
import EventLoops

/// The identifier of a peer that apps use: 128 bits without further meaning, the same for as long as the bond exists
/// (behaviours 6.18 and 6.19).
package struct BondIdentifier: Hashable, Sendable {
    /// The upper 64 bits of the printed form.
    package let high: UInt64
    /// The lower 64 bits of the printed form.
    package let low: UInt64

    package init(high: UInt64, low: UInt64) {
        self.high = high
        self.low = low
    }

    /// Generates an identifier: a random UUID (RFC 9562 section 5.4).
    package init(random: RandomSource) {
        high = random.next() & 0xFFFF_FFFF_FFFF_0FFF | 0x4000
        low = random.next() & 0x3FFF_FFFF_FFFF_FFFF | 0x8000_0000_0000_0000
    }

    /// Creates an identifier from 16 octets in the order of the printed form; nil for another number of octets.
    package init?(_ bytes: some RandomAccessCollection<UInt8>) {
        guard bytes.count == 16, let uuid = BluetoothUUID(bigEndian: bytes) else { return nil }
        self.init(high: uuid.high, low: uuid.low)
    }

    /// Parses `12345678-1234-4234-8234-123456789ABC`; nil for anything else.
    package init?(_ text: String) {
        guard text.utf8.count == 36, let uuid = BluetoothUUID(text) else { return nil }
        self.init(high: uuid.high, low: uuid.low)
    }

    /// The 16 octets in the order of the printed form.
    package var bytes: [UInt8] { BluetoothUUID(high: high, low: low).bigEndianBytes }
}

extension BondIdentifier: CustomStringConvertible {
    /// Upper-case hexadecimal digits with hyphens.
    package var description: String { BluetoothUUID(high: high, low: low).description }
}
