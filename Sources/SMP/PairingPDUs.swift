import BluetoothTypes

/// A command's code on the Security Manager's channel (Core Vol 3 Part H 3.3).
public struct SMPCode: WireValue {
    /// The number on the wire.
    public var rawValue: UInt8

    /// Any number, known or not.
    public init(rawValue: UInt8) {
        self.rawValue = rawValue
    }

    /// The central asks for pairing.
    public static let pairingRequest = SMPCode(rawValue: 0x01)
    /// Pairing is over without a key.
    public static let pairingFailed = SMPCode(rawValue: 0x05)
    /// The peripheral asks the central for pairing or encryption.
    public static let securityRequest = SMPCode(rawValue: 0x0B)
}

/// The fields of a command after its code (Core Vol 3 Part H 3.3).
public protocol SMPPacket: PacketFields, Hashable, Sendable {
    /// The command's code.
    static var code: SMPCode { get }
}

extension SMPPacket {
    /// The command as octets, code first, with headroom for the layers below.
    public func framed() -> PacketBuffer {
        var buffer = PacketBuffer(capacity: 8)
        buffer.append(Self.code.rawValue)
        write(to: &buffer)
        return buffer
    }
}

/// What a device wants of pairing (Core Vol 3 Part H 3.5.1). Reserved bits stay as they are.
public struct AuthenticationRequirements: WireValue {
    /// The bits on the wire.
    public var rawValue: UInt8

    /// Any bits.
    public init(rawValue: UInt8) {
        self.rawValue = rawValue
    }

    /// Whether keys are to be kept.
    public var wantsBonding: Bool { rawValue & 0x03 == 0x01 }
    /// Whether a person in the middle is to be kept out.
    public var wantsProtection: Bool { rawValue & 0x04 != 0 }
    /// Whether LE Secure Connections are supported.
    public var supportsSecureConnections: Bool { rawValue & 0x08 != 0 }
}

/// Pairing Request (Core Vol 3 Part H 3.5.1).
public struct PairingRequest: SMPPacket {
    /// The command's code.
    public static let code = SMPCode.pairingRequest
    /// What the device can show and what can be entered.
    public var ioCapability: UInt8 = 0
    /// 1 when authentication data came another way.
    public var outOfBandFlag: UInt8 = 0
    /// What the device wants.
    public var requirements = AuthenticationRequirements(rawValue: 0)
    /// The longest key that the device takes, 7 to 16 octets.
    public var maximumKeySize: UInt8 = 0
    /// The keys that the initiator would give.
    public var initiatorKeys: UInt8 = 0
    /// The keys that the responder would give.
    public var responderKeys: UInt8 = 0

    /// All zero.
    public init() {}

    /// Names the fields.
    public mutating func code<C: FieldCoder>(_ coder: inout C) throws(PacketError) {
        try coder.field("IO Capability", &ioCapability)
        try coder.field("OOB data flag", &outOfBandFlag)
        try coder.field("AuthReq", &requirements)
        try coder.field("Maximum Encryption Key Size", &maximumKeySize)
        try coder.field("Initiator Key Distribution", &initiatorKeys)
        try coder.field("Responder Key Distribution", &responderKeys)
    }
}

/// Pairing Failed (Core Vol 3 Part H 3.5.5).
public struct PairingFailed: SMPPacket {
    /// Why pairing failed.
    public struct Reason: WireValue {
        /// The number on the wire.
        public var rawValue: UInt8
        /// Any number, known or not.
        public init(rawValue: UInt8) { self.rawValue = rawValue }

        /// The device does not pair.
        public static let pairingNotSupported = Reason(rawValue: 0x05)
    }

    /// The command's code.
    public static let code = SMPCode.pairingFailed
    /// Why pairing failed.
    public var reason = Reason(rawValue: 0)

    /// No reason.
    public init() {}

    /// The given reason.
    public init(_ reason: Reason) { self.reason = reason }

    /// Names the fields.
    public mutating func code<C: FieldCoder>(_ coder: inout C) throws(PacketError) {
        try coder.field("Reason", &reason)
    }
}

/// Security Request: a peripheral wants the link encrypted (Core Vol 3 Part H 3.6.7).
public struct SecurityRequest: SMPPacket {
    /// The command's code.
    public static let code = SMPCode.securityRequest
    /// What the peripheral wants.
    public var requirements = AuthenticationRequirements(rawValue: 0)

    /// All zero.
    public init() {}

    /// Names the fields.
    public mutating func code<C: FieldCoder>(_ coder: inout C) throws(PacketError) {
        try coder.field("AuthReq", &requirements)
    }
}
