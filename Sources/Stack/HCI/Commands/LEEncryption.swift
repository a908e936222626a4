import BluetoothTypes

/// Encrypts a block with AES-128 (Core Vol 4 Part E 7.8.22). All octets are least significant first, the reverse of the
/// order in FIPS 197.
package struct LEEncrypt: HCICommand {
    package struct Response: HCIResponse {
        package var status = HCIStatus.success
        /// The ciphertext block, 16 octets.
        package var ciphertext: PacketBuffer = []

        package init() {}

        package init(status: HCIStatus = .success, ciphertext: PacketBuffer) {
            (self.status, self.ciphertext) = (status, ciphertext)
        }

        /// Codes the return parameters. The block is printed as a secret, because the host may derive a key with it.
        package mutating func code<C: FieldCoder>(_ coder: inout C) throws(PacketError) {
            try coder.field("Status", &status)
            try coder.secret("Encrypted_Data", &ciphertext, count: 16)
        }
    }

    package static let entry = CommandEntry(.le, 0x17, "LE Encrypt", bit: (27, 6))

    /// The key, 16 octets.
    package var key: PacketBuffer = []
    /// The plaintext block, 16 octets.
    package var plaintext: PacketBuffer = []

    package init() {}
    package init(key: PacketBuffer, plaintext: PacketBuffer) { (self.key, self.plaintext) = (key, plaintext) }

    package mutating func code<C: FieldCoder>(_ coder: inout C) throws(PacketError) {
        try coder.secret("Key", &key, count: 16)
        try coder.bytes("Plaintext_Data", &plaintext, count: 16)
    }
}

/// Reads a random number (Core Vol 4 Part E 7.8.23).
package struct LERand: ParameterlessCommand {
    package struct Response: HCIResponse {
        package var status = HCIStatus.success
        /// 64 bits from the random number generator of the controller.
        package var number: UInt64 = 0

        package init() {}
        package init(number: UInt64) { self.number = number }

        /// Codes the return parameters. The number is printed as a secret, because hosts generate keys from it.
        package mutating func code<C: FieldCoder>(_ coder: inout C) throws(PacketError) {
            try coder.field("Status", &status)
            try coder.secret("Random_Number", &number)
        }
    }

    package static let entry = CommandEntry(.le, 0x18, "LE Rand", bit: (27, 7))

    package init() {}
}

/// As central, encrypts a link or refreshes its key (Core Vol 4 Part E 7.8.24). Encryption Change or Encryption Key
/// Refresh Complete follows.
package struct LEEnableEncryption: HCICommand {
    package static let entry = CommandEntry(.le, 0x19, "LE Enable Encryption", bit: (28, 0), .status)

    package var handle = ConnectionHandle(rawValue: 0)
    /// Rand, which identifies the key to the peripheral; 0 with LE Secure Connections.
    package var random: UInt64 = 0
    /// EDIV, which identifies the key to the peripheral; 0 with LE Secure Connections.
    package var encryptedDiversifier: UInt16 = 0
    /// The key, 16 octets, least significant first.
    package var longTermKey: PacketBuffer = []

    package init() {}

    package init(handle: ConnectionHandle, random: UInt64, encryptedDiversifier: UInt16, longTermKey: PacketBuffer) {
        self.handle = handle
        self.random = random
        self.encryptedDiversifier = encryptedDiversifier
        self.longTermKey = longTermKey
    }

    package mutating func code<C: FieldCoder>(_ coder: inout C) throws(PacketError) {
        try coder.field("Connection_Handle", &handle)
        try coder.field("Random_Number", &random)
        try coder.field("Encrypted_Diversifier", &encryptedDiversifier)
        try coder.secret("Long_Term_Key", &longTermKey, count: 16)
    }
}

/// Provides the key that a peripheral's controller has requested (Core Vol 4 Part E 7.8.25).
package struct LELongTermKeyRequestReply: HCICommand {
    package typealias Response = StatusAndHandle

    package static let entry = CommandEntry(.le, 0x1A, "LE Long Term Key Request Reply", bit: (28, 1))

    package var handle = ConnectionHandle(rawValue: 0)
    /// The key, 16 octets, least significant first.
    package var longTermKey: PacketBuffer = []

    package init() {}

    package init(handle: ConnectionHandle, longTermKey: PacketBuffer) {
        (self.handle, self.longTermKey) = (handle, longTermKey)
    }

    package mutating func code<C: FieldCoder>(_ coder: inout C) throws(PacketError) {
        try coder.field("Connection_Handle", &handle)
        try coder.secret("Long_Term_Key", &longTermKey, count: 16)
    }
}

/// Reports that there is no such key (Core Vol 4 Part E 7.8.26).
package struct LELongTermKeyRequestNegativeReply: LinkCommand {
    package typealias Response = StatusAndHandle

    package static let entry = CommandEntry(.le, 0x1B, "LE Long Term Key Request Negative Reply", bit: (28, 2))

    package var handle = ConnectionHandle(rawValue: 0)

    package init() {}
}

/// Makes the controller generate a key pair (Core Vol 4 Part E 7.8.36). LE Read Local P-256 Public Key Complete
/// follows.
package struct LEReadLocalP256PublicKey: ParameterlessCommand {
    package static let entry = CommandEntry(.le, 0x25, "LE Read Local P-256 Public Key", bit: (34, 1), .status)

    package init() {}
}

/// Computes a shared secret with the controller's private key (Core Vol 4 Part E 7.8.37). LE Generate DHKey Complete
/// follows.
package struct LEGenerateDHKey: HCICommand {
    package static let entry = CommandEntry(.le, 0x26, "LE Generate DHKey [v1]", bit: (34, 2), .status)

    /// The peer's x coordinate, 32 octets, least significant first.
    package var x: PacketBuffer = []
    /// The peer's y coordinate, 32 octets, least significant first.
    package var y: PacketBuffer = []

    package init() {}
    package init(x: PacketBuffer, y: PacketBuffer) { (self.x, self.y) = (x, y) }

    package mutating func code<C: FieldCoder>(_ coder: inout C) throws(PacketError) {
        try coder.bytes("Key_X_Coordinate", &x, count: 32)
        try coder.bytes("Key_Y_Coordinate", &y, count: 32)
    }
}

/// Computes a shared secret with a private key of the controller (Core Vol 4 Part E 7.8.37). LE Generate DHKey Complete
/// follows.
package struct LEGenerateDHKeyV2: HCICommand {
    package static let entry = CommandEntry(.le, 0x5E, "LE Generate DHKey [v2]", bit: (41, 2), .status)

    package var v1 = LEGenerateDHKey()
    package var keyKind = LEPrivateKeyKind(rawValue: 0)

    package init() {}
    package init(_ v1: LEGenerateDHKey, keyKind: LEPrivateKeyKind) { (self.v1, self.keyKind) = (v1, keyKind) }

    package mutating func code<C: FieldCoder>(_ coder: inout C) throws(PacketError) {
        try v1.code(&coder)
        try coder.field("Key_Type", &keyKind)
    }
}
