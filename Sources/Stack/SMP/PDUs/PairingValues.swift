import BluetoothTypes
import Cryptography

/// Pairing Confirm (Core Vol 3 Part H 3.5.3).
package struct PairingConfirm: SMPPacket {
    package static let code = SMPCode.pairingConfirm
    /// The commitment to values that the sender reveals later.
    package var value = Block128.zero
    package init() {}
    package init(_ value: Block128) { self.value = value }
    package mutating func code<C: FieldCoder>(_ coder: inout C) throws(PacketError) {
        try coder.block("Confirm value", &value)
    }
}

/// Pairing Random (Core Vol 3 Part H 3.5.4).
package struct PairingRandom: SMPPacket {
    package static let code = SMPCode.pairingRandom
    /// The nonce of the sender.
    package var value = Block128.zero
    package init() {}
    package init(_ value: Block128) { self.value = value }
    package mutating func code<C: FieldCoder>(_ coder: inout C) throws(PacketError) {
        try coder.block("Random value", &value)
    }
}

/// Pairing DHKey Check (Core Vol 3 Part H 3.5.7).
package struct PairingDHKeyCheck: SMPPacket {
    package static let code = SMPCode.pairingDHKeyCheck
    /// The check that both devices saw the same exchange.
    package var value = Block128.zero
    package init() {}
    package init(_ value: Block128) { self.value = value }
    package mutating func code<C: FieldCoder>(_ coder: inout C) throws(PacketError) {
        try coder.block("DHKey Check", &value)
    }
}

/// Pairing Public Key (Core Vol 3 Part H 3.5.6).
package struct PairingPublicKey: SMPPacket {
    package static let code = SMPCode.pairingPublicKey
    /// The x coordinate, least significant octet first.
    private var x = PacketBuffer([UInt8](repeating: 0, count: 32))
    /// The y coordinate, least significant octet first.
    private var y = PacketBuffer([UInt8](repeating: 0, count: 32))

    package init() {}

    package init(_ point: P256Point) {
        x = PacketBuffer(point.x.reversed())
        y = PacketBuffer(point.y.reversed())
    }

    /// The public key. It has not been checked to lie on the curve.
    package var point: P256Point? { P256Point(x: x.bytes.reversed(), y: y.bytes.reversed()) }

    package mutating func code<C: FieldCoder>(_ coder: inout C) throws(PacketError) {
        try coder.bytes("Public Key X", &x, count: 32)
        try coder.bytes("Public Key Y", &y, count: 32)
    }
}

/// Keypress Notification (Core Vol 3 Part H 3.5.8).
package struct KeypressNotification: SMPPacket {
    /// A keyboard action during passkey entry.
    package struct Kind: WireValue {
        package var rawValue: UInt8
        /// Creates a kind from any number, assigned or not.
        package init(rawValue: UInt8) { self.rawValue = rawValue }

        /// The entry of the passkey has started.
        package static let started = Kind(rawValue: 0)
        /// A digit was entered.
        package static let digitEntered = Kind(rawValue: 1)
        /// A digit was erased.
        package static let digitErased = Kind(rawValue: 2)
        /// All digits were erased.
        package static let cleared = Kind(rawValue: 3)
        /// Passkey entry is complete.
        package static let completed = Kind(rawValue: 4)
    }

    package static let code = SMPCode.keypressNotification
    /// The action of the user.
    package var kind = Kind.started
    /// Creates a notification that passkey entry started.
    package init() {}
    package init(_ kind: Kind) { self.kind = kind }
    package mutating func code<C: FieldCoder>(_ coder: inout C) throws(PacketError) {
        try coder.field("Notification Type", &kind)
    }
}
