import BluetoothService
import CoreBluetooth

extension CBUUID {
    /// The bit of Apple's overflow area that stands for this service, 0 to 127: who offers a service without room for its UUID sets it
    /// (behaviours 2.31 to 2.33, 15.17). Services share bits, so a set bit means "perhaps".
    ///
    /// The area is manufacturer data of Apple, 0x004C, with the type octet 0x01 and then 16 octets of bits; bit 0 is the top bit of the
    /// first. The number is a CRC of 8 bits (polynomial 0x09, initial value 0x15, top bit first, no reflection) over the 16 octets of
    /// the UUID as printed, without its top bit.
    public var overflowBit: Int { OverflowArea.index(of: uuid) }
}
