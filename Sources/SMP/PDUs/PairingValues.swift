import BluetoothTypes
import Cryptography

/// Pairing Confirm (Core Vol 3 Part H 3.5.3).
package struct PairingConfirm: SMPPacket {
    /// The command's code.
    package static let code = SMPCode.pairingConfirm
    /// What binds the sender to values that it shows later.
    package var value = Block128.zero
    package init() {}
    /// The given value.
    package init(_ value: Block128) { self.value = value }
    package mutating func code<C: FieldCoder>(_ coder: inout C) throws(PacketError) {
        try coder.block("Confirm value", &value)
    }
}

/// Pairing Random (Core Vol 3 Part H 3.5.4).
package struct PairingRandom: SMPPacket {
    /// The command's code.
    package static let code = SMPCode.pairingRandom
    /// A random value.
    package var value = Block128.zero
    package init() {}
    /// The given value.
    package init(_ value: Block128) { self.value = value }
    package mutating func code<C: FieldCoder>(_ coder: inout C) throws(PacketError) {
        try coder.block("Random value", &value)
    }
}

/// Pairing DHKey Check (Core Vol 3 Part H 3.5.7).
package struct PairingDHKeyCheck: SMPPacket {
    /// The command's code.
    package static let code = SMPCode.pairingDHKeyCheck
    /// The check that the exchange was seen alike by both.
    package var value = Block128.zero
    package init() {}
    /// The given value.
    package init(_ value: Block128) { self.value = value }
    package mutating func code<C: FieldCoder>(_ coder: inout C) throws(PacketError) {
        try coder.block("DHKey Check", &value)
    }
}

/// Pairing Public Key (Core Vol 3 Part H 3.5.6).
package struct PairingPublicKey: SMPPacket {
    /// The command's code.
    package static let code = SMPCode.pairingPublicKey
    /// The x coordinate, the least significant octet first.
    private var x = PacketBuffer([UInt8](repeating: 0, count: 32))
    /// The y coordinate, the least significant octet first.
    private var y = PacketBuffer([UInt8](repeating: 0, count: 32))

    package init() {}

    /// The given point.
    package init(_ point: P256Point) {
        x = PacketBuffer(point.x.reversed())
        y = PacketBuffer(point.y.reversed())
    }

    /// The point, which may be anywhere.
    package var point: P256Point? { P256Point(x: x.bytes.reversed(), y: y.bytes.reversed()) }

    package mutating func code<C: FieldCoder>(_ coder: inout C) throws(PacketError) {
        try coder.bytes("Public Key X", &x, count: 32)
        try coder.bytes("Public Key Y", &y, count: 32)
    }
}

/// Keypress Notification (Core Vol 3 Part H 3.5.8).
package struct KeypressNotification: SMPPacket {
    /// What a person does with the keyboard.
    package struct Kind: WireValue {
        package var rawValue: UInt8
        /// Any number, known or not.
        package init(rawValue: UInt8) { self.rawValue = rawValue }

        /// Entry has begun.
        package static let started = Kind(rawValue: 0)
        /// A digit was entered.
        package static let digitEntered = Kind(rawValue: 1)
        /// A digit was erased.
        package static let digitErased = Kind(rawValue: 2)
        /// All digits were erased.
        package static let cleared = Kind(rawValue: 3)
        /// Entry is complete.
        package static let completed = Kind(rawValue: 4)
    }

    /// The command's code.
    package static let code = SMPCode.keypressNotification
    /// What the person does.
    package var kind = Kind.started
    /// Entry has begun.
    package init() {}
    /// The given kind.
    package init(_ kind: Kind) { self.kind = kind }
    package mutating func code<C: FieldCoder>(_ coder: inout C) throws(PacketError) {
        try coder.field("Notification Type", &kind)
    }
}
