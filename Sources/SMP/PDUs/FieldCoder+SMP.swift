import BluetoothTypes
import Cryptography

extension FieldCoder {
    /// Codes 16 octets, least significant first (Core Vol 3 Part H 3.3).
    mutating func block(_ name: String, _ value: inout Block128) throws(PacketError) {
        try field(name, &value.low)
        try field(name, &value.high)
    }

    /// Codes a key of 16 octets, least significant first, whose value never appears in logs.
    mutating func secret(_ name: String, _ value: inout Key128) throws(PacketError) {
        var octets = PacketBuffer(value.littleEndianBytes)
        try secret(name, &octets, count: 16)
        value = Key128(littleEndian: octets) ?? .zero
    }
}
