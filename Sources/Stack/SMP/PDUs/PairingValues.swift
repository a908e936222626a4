import BluetoothTypes
import Cryptography

/// Pairing Confirm (Core Vol 3 Part H 3.5.3).
package struct PairingConfirm: SMPPacket {
    package static let code = SMPCode.pairingConfirm
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
        package init(rawValue: UInt8) { self.rawValue = rawValue }

        package static let started = Kind(rawValue: 0)
        package static let digitEntered = Kind(rawValue: 1)
        package static let digitErased = Kind(rawValue: 2)
        package static let cleared = Kind(rawValue: 3)
        package static let completed = Kind(rawValue: 4)
    }

    package static let code = SMPCode.keypressNotification
    package var kind = Kind.started
    package init() {}
    package init(_ kind: Kind) { self.kind = kind }
    package mutating func code<C: FieldCoder>(_ coder: inout C) throws(PacketError) {
        try coder.field("Notification Type", &kind)
    }
}
