import CoreBluetooth
import ServiceMessages

extension CBUUID {
    /// The bit of Apple's overflow area that stands for this service, from 0 to 127 (behaviours 2.31 to 2.33, 15.17).
    ///
    /// A device that offers a service without room for its UUID sets the bit. Services share bits, so a set bit means
    /// that the device may offer the service.
    ///
    /// The area is manufacturer data of Apple, 0x004C: the type octet 0x01, followed by 16 octets of bits. Bit 0 is the
    /// most significant bit of the first octet. The number consists of the low seven bits of an 8-bit CRC (polynomial
    /// 0x09, initial value 0x15, most significant bit first, no reflection) over the 16 octets of the UUID as printed.
    public var overflowBit: Int { OverflowArea.index(of: uuid) }
}
