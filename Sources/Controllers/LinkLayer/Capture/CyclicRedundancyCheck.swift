/// The CRC at the end of each PDU (Core Vol 6 Part B 3.1.1): x²⁴ + x¹⁰ + x⁹ + x⁶ + x⁴ + x³ + x + 1.
///
/// Only captures contain it. Virtual controllers need none, since the simulated radio reports whether a frame is
/// corrupted.
package enum CyclicRedundancyCheck {
    /// The initial value in advertising, where no PDU tells it (Core Vol 6 Part B 3.1.1).
    package static let advertisingInitial = AdvertisingPDU.crcInit

    /// The polynomial with its lowest power in the highest bit, since octets are sent with the lowest bit first.
    private static let polynomial: UInt32 = 0xDA_6000
    /// The effect of each octet on the register.
    private static let table: [UInt32] = (0..<256).map { octet in
        (0..<8).reduce(UInt32(octet)) { value, _ in value & 1 == 1 ? value >> 1 ^ polynomial : value >> 1 }
    }

    /// Returns the three CRC octets of a PDU in the order in which they are sent.
    package static func octets(of pdu: [UInt8], initial: UInt32) -> [UInt8] {
        var register = reversed(initial)
        for octet in pdu {
            register = register >> 8 ^ table[Int(UInt8(truncatingIfNeeded: register) ^ octet)]
        }
        return (0..<3).map { UInt8(truncatingIfNeeded: register >> (8 * $0)) }
    }

    /// Reverses the 24 low bits.
    private static func reversed(_ value: UInt32) -> UInt32 {
        (0..<24).reduce(0) { $0 << 1 | value >> UInt32($1) & 1 }
    }
}
