import BluetoothTypes
import Cryptography

/// Encryption Information: a long-term key of legacy pairing (Core Vol 3 Part H 3.6.2).
package struct EncryptionInformation: SMPPacket {
    /// The command's code.
    package static let code = SMPCode.encryptionInformation
    /// The key.
    package var longTermKey = Key128.zero
    /// The zero key.
    package init() {}
    /// The given key.
    package init(_ longTermKey: Key128) { self.longTermKey = longTermKey }
    package mutating func code<C: FieldCoder>(_ coder: inout C) throws(PacketError) {
        try coder.secret("Long Term Key", &longTermKey)
    }
}

/// Central Identification: how that key is asked for (Core Vol 3 Part H 3.6.3).
package struct CentralIdentification: SMPPacket {
    /// The command's code.
    package static let code = SMPCode.centralIdentification
    /// The diversifier that the central shows when it encrypts.
    package var diversifier: UInt16 = 0
    /// The random value that it shows with it.
    package var random: UInt64 = 0
    package init() {}
    /// The given values.
    package init(diversifier: UInt16, random: UInt64) {
        self.diversifier = diversifier
        self.random = random
    }
    package mutating func code<C: FieldCoder>(_ coder: inout C) throws(PacketError) {
        try coder.field("EDIV", &diversifier)
        try coder.field("Rand", &random)
    }
}

/// Identity Information: an identity resolving key (Core Vol 3 Part H 3.6.4).
package struct IdentityInformation: SMPPacket {
    /// The command's code.
    package static let code = SMPCode.identityInformation
    /// The key; zero for a device without private addresses.
    package var key = Key128.zero
    /// The zero key.
    package init() {}
    /// The given key.
    package init(_ key: Key128) { self.key = key }
    package mutating func code<C: FieldCoder>(_ coder: inout C) throws(PacketError) {
        try coder.secret("Identity Resolving Key", &key)
    }
}

/// Identity Address Information (Core Vol 3 Part H 3.6.5).
package struct IdentityAddressInformation: SMPPacket {
    /// The command's code.
    package static let code = SMPCode.identityAddressInformation
    /// A public or a static random address.
    package var address = BluetoothAddress.none
    /// No address.
    package init() {}
    /// The given address.
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

/// Signing Information: a key for signatures (Core Vol 3 Part H 3.6.6).
package struct SigningInformation: SMPPacket {
    /// The command's code.
    package static let code = SMPCode.signingInformation
    /// The key.
    package var key = Key128.zero
    /// The zero key.
    package init() {}
    /// The given key.
    package init(_ key: Key128) { self.key = key }
    package mutating func code<C: FieldCoder>(_ coder: inout C) throws(PacketError) {
        try coder.secret("Signature Key", &key)
    }
}
