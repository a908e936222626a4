import BluetoothTypes

/// LE Read Local P-256 Public Key (Core Vol 4 Part E 7.8.36): makes the controller generate a key pair. LE Read Local
/// P-256 Public Key Complete follows.
package struct LEReadLocalP256PublicKey: ParameterlessCommand {
    package static let entry = CommandEntry(.le, 0x25, "LE Read Local P-256 Public Key", bit: (34, 1), .status)

    package init() {}
}

/// LE Generate DHKey [v1] (Core Vol 4 Part E 7.8.37): computes a shared secret with the controller's private key.
/// LE Generate DHKey Complete follows.
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

/// LE Generate DHKey [v2] (Core Vol 4 Part E 7.8.37): computes a shared secret with a private key of the
/// controller. LE Generate DHKey Complete follows.
package struct LEGenerateDHKeyV2: HCICommand {
    package static let entry = CommandEntry(.le, 0x5E, "LE Generate DHKey [v2]", bit: (41, 2), .status)

    /// The fields of version 1.
    package var v1 = LEGenerateDHKey()
    /// The private key to use.
    package var keyKind = LEPrivateKeyKind(rawValue: 0)

    package init() {}
    package init(_ v1: LEGenerateDHKey, keyKind: LEPrivateKeyKind) { (self.v1, self.keyKind) = (v1, keyKind) }

    package mutating func code<C: FieldCoder>(_ coder: inout C) throws(PacketError) {
        try v1.code(&coder)
        try coder.field("Key_Type", &keyKind)
    }
}
