import BluetoothTypes

/// The public key of the key pair that the controller has generated (Core Vol 4 Part E 7.7.65.8).
package struct LEReadLocalP256PublicKeyComplete: HCIEvent {
    package static let entry = EventEntry(le: 0x08, "LE Read Local P-256 Public Key Complete")

    package var status = HCIStatus.success
    /// The x coordinate, 32 octets, least significant first.
    package var x: PacketBuffer = []
    /// The y coordinate, 32 octets, least significant first.
    package var y: PacketBuffer = []

    package init() {}

    package init(status: HCIStatus = .success, x: PacketBuffer, y: PacketBuffer) {
        (self.status, self.x, self.y) = (status, x, y)
    }

    package mutating func code<C: FieldCoder>(_ coder: inout C) throws(PacketError) {
        try coder.field("Status", &status)
        try coder.bytes("Key_X_Coordinate", &x, count: 32)
        try coder.bytes("Key_Y_Coordinate", &y, count: 32)
    }
}

/// The shared secret that the controller has computed (Core Vol 4 Part E 7.7.65.9).
package struct LEGenerateDHKeyComplete: HCIEvent {
    package static let entry = EventEntry(le: 0x09, "LE Generate DHKey Complete")

    package var status = HCIStatus.success
    /// The shared secret, 32 octets, least significant first.
    package var key: PacketBuffer = []

    package init() {}
    package init(status: HCIStatus = .success, key: PacketBuffer) { (self.status, self.key) = (status, key) }

    package mutating func code<C: FieldCoder>(_ coder: inout C) throws(PacketError) {
        try coder.field("Status", &status)
        try coder.secret("DH_Key", &key, count: 32)
    }
}
