import BluetoothTypes
import Cryptography

/// Encryption Information: a long-term key (LTK) of legacy pairing (Core Vol 3 Part H 3.6.2).
package struct EncryptionInformation: SMPPacket {
    package static let code = SMPCode.encryptionInformation
    package var longTermKey = Key128.zero
    package init() {}
    package init(_ longTermKey: Key128) { self.longTermKey = longTermKey }
    package mutating func code<C: FieldCoder>(_ coder: inout C) throws(PacketError) {
        try coder.secret("Long Term Key", &longTermKey)
    }
}

/// Central Identification: the EDIV and Rand values of a long-term key (Core Vol 3 Part H 3.6.3).
package struct CentralIdentification: SMPPacket {
    package static let code = SMPCode.centralIdentification
    package var diversifier: UInt16 = 0
    package var random: UInt64 = 0
    package init() {}
    package init(diversifier: UInt16, random: UInt64) { (self.diversifier, self.random) = (diversifier, random) }
    package mutating func code<C: FieldCoder>(_ coder: inout C) throws(PacketError) {
        try coder.field("EDIV", &diversifier)
        try coder.field("Rand", &random)
    }
}

/// Identity Information: an identity resolving key (IRK) (Core Vol 3 Part H 3.6.4).
package struct IdentityInformation: SMPPacket {
    package static let code = SMPCode.identityInformation
    /// The key; zero for a device without private addresses.
    package var key = Key128.zero
    package init() {}
    package init(_ key: Key128) { self.key = key }
    package mutating func code<C: FieldCoder>(_ coder: inout C) throws(PacketError) {
        try coder.secret("Identity Resolving Key", &key)
    }
}

/// Identity Address Information (Core Vol 3 Part H 3.6.5).
package struct IdentityAddressInformation: SMPPacket {
    package static let code = SMPCode.identityAddressInformation
    /// The identity address: public or static random.
    package var address = BluetoothAddress.none
    package init() {}
    package init(_ address: BluetoothAddress) { self.address = address }
    package mutating func code<C: FieldCoder>(_ coder: inout C) throws(PacketError) {
        var kind = address.kind
        var low = UInt32(truncatingIfNeeded: address.value)
        var high = UInt16(truncatingIfNeeded: address.value >> 32)
        try coder.field("AddrType", &kind)
        try coder.field("BD_ADDR", &low)
        try coder.field("BD_ADDR", &high)
        address = BluetoothAddress(UInt64(high) << 32 | UInt64(low), kind: kind)
    }
}

/// Signing Information: a signature key (CSRK) (Core Vol 3 Part H 3.6.6).
package struct SigningInformation: SMPPacket {
    package static let code = SMPCode.signingInformation
    package var key = Key128.zero
    package init() {}
    package init(_ key: Key128) { self.key = key }
    package mutating func code<C: FieldCoder>(_ coder: inout C) throws(PacketError) {
        try coder.secret("Signature Key", &key)
    }
}
