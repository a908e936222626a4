import BluetoothTypes

/// LL_ENC_REQ (Core Vol 6 Part B 2.4.2.4).
struct EncryptionRequest: PacketFields, Hashable {
    /// Rand: identifies the key to the peripheral's host; 0 with LE Secure Connections.
    var random: UInt64 = 0
    /// EDIV: identifies the key to the peripheral's host; 0 with LE Secure Connections.
    var diversifier: UInt16 = 0
    /// SKD_C: the central's half of the session key diversifier.
    var keyDiversifier: UInt64 = 0
    /// IV_C: the central's half of the initialization vector.
    var vector: UInt32 = 0

    init() {}

    mutating func code<C: FieldCoder>(_ coder: inout C) throws(PacketError) {
        try coder.field("Rand", &random)
        try coder.field("EDIV", &diversifier)
        try coder.field("SKD_C", &keyDiversifier)
        try coder.field("IV_C", &vector)
    }
}

/// LL_ENC_RSP (2.4.2.5).
struct EncryptionResponse: PacketFields, Hashable {
    /// SKD_P: the peripheral's half of the session key diversifier.
    var keyDiversifier: UInt64 = 0
    /// IV_P: the peripheral's half of the initialization vector.
    var vector: UInt32 = 0

    init() {}

    mutating func code<C: FieldCoder>(_ coder: inout C) throws(PacketError) {
        try coder.field("SKD_P", &keyDiversifier)
        try coder.field("IV_P", &vector)
    }
}
