import BluetoothTypes

/// What a device can show and what can be entered on it (Core Vol 3 Part H 2.3.2).
package struct IOCapability: WireValue, CustomStringConvertible {
    package var rawValue: UInt8
    /// Any number, known or not.
    package init(rawValue: UInt8) { self.rawValue = rawValue }

    /// It shows six digits.
    package static let displayOnly = IOCapability(rawValue: 0)
    /// It shows six digits, and a person can say yes or no.
    package static let displayYesNo = IOCapability(rawValue: 1)
    /// Six digits can be entered.
    package static let keyboardOnly = IOCapability(rawValue: 2)
    /// Neither.
    package static let noInputNoOutput = IOCapability(rawValue: 3)
    /// Both.
    package static let keyboardDisplay = IOCapability(rawValue: 4)
    /// All five, in the order of their numbers.
    package static let all = [displayOnly, displayYesNo, keyboardOnly, noInputNoOutput, keyboardDisplay]

    /// Whether the number is one of the five.
    package var isValid: Bool { rawValue <= 4 }

    /// The name for a log.
    package var description: String {
        let names = [
            "display only", "display, yes or no", "keyboard only", "no input, no output", "keyboard and display",
        ]
        return isValid ? names[Int(rawValue)] : "capability \(rawValue)"
    }
}

/// What a device wants of pairing (Core Vol 3 Part H 3.5.1). Reserved bits are taken from the wire and not looked at.
package struct AuthenticationRequirements: WireValue, OptionSet, CustomStringConvertible {
    package var rawValue: UInt8
    /// Any bits.
    package init(rawValue: UInt8) { self.rawValue = rawValue }

    /// Keys are to be kept.
    package static let bonding = AuthenticationRequirements(rawValue: 0x01)
    /// A person in the middle is to be kept out.
    package static let protection = AuthenticationRequirements(rawValue: 0x04)
    /// LE Secure Connections are supported.
    package static let secureConnections = AuthenticationRequirements(rawValue: 0x08)
    /// Keypress notifications are wanted.
    package static let keypress = AuthenticationRequirements(rawValue: 0x10)
    /// The function h7 is supported.
    package static let h7 = AuthenticationRequirements(rawValue: 0x20)

    /// The bits' names for a log.
    package var description: String {
        let names: [(AuthenticationRequirements, String)] = [
            (.bonding, "bonding"), (.protection, "MITM"), (.secureConnections, "SC"), (.keypress, "keypress"),
            (.h7, "CT2"),
        ]
        return "[" + names.filter { contains($0.0) }.map(\.1).joined(separator: ", ") + "]"
    }
}

/// The kinds of keys that a device gives to the other one (Core Vol 3 Part H 3.6.1).
package struct KeyKinds: WireValue, OptionSet {
    package var rawValue: UInt8
    /// Any bits.
    package init(rawValue: UInt8) { self.rawValue = rawValue }

    /// A long-term key of legacy pairing.
    package static let encryption = KeyKinds(rawValue: 0x01)
    /// An identity resolving key and the identity address.
    package static let identity = KeyKinds(rawValue: 0x02)
    /// A key for signatures.
    package static let signing = KeyKinds(rawValue: 0x04)
    /// A key for BR/EDR, derived from the long-term one.
    package static let link = KeyKinds(rawValue: 0x08)
}

/// What both sides tell each other first: the fields of Pairing Request and Pairing Response (Core Vol 3 Part H 3.5.1,
/// 3.5.2).
package struct PairingFeatures: PacketFields, Hashable, Sendable {
    /// What the device can show and what can be entered.
    package var ioCapability = IOCapability.noInputNoOutput
    /// 1 when authentication data of the peer came another way.
    package var outOfBandFlag: UInt8 = 0
    /// What the device wants.
    package var requirements = AuthenticationRequirements()
    /// The longest key that the device takes, 7 to 16 octets.
    package var maximumKeySize: UInt8 = 16
    /// The keys that the initiator is to give.
    package var initiatorKeys = KeyKinds()
    /// The keys that the responder is to give.
    package var responderKeys = KeyKinds()

    /// No capabilities, no wishes, keys of 16 octets.
    package init() {}

    package mutating func code<C: FieldCoder>(_ coder: inout C) throws(PacketError) {
        try coder.field("IO Capability", &ioCapability)
        try coder.field("OOB data flag", &outOfBandFlag)
        try coder.field("AuthReq", &requirements)
        try coder.field("Maximum Encryption Key Size", &maximumKeySize)
        try coder.field("Initiator Key Distribution", &initiatorKeys)
        try coder.field("Responder Key Distribution", &responderKeys)
    }

    /// Whether every field has a value that is not reserved; reserved bits of the sets do not matter (Vol 3 Part H 3.3).
    package var isValid: Bool { ioCapability.isValid && outOfBandFlag <= 1 && (7...16).contains(maximumKeySize) }

    /// The octets that c1 and f6 take: IO capability, OOB flag, AuthReq, the least significant first.
    var capabilities: [UInt8] { [requirements.rawValue, outOfBandFlag, ioCapability.rawValue] }
}

/// Pairing Request (Core Vol 3 Part H 3.5.1).
package struct PairingRequest: SMPPacket {
    /// The command's code.
    package static let code = SMPCode.pairingRequest
    /// What the initiator has and wants.
    package var features = PairingFeatures()
    /// No capabilities, no wishes.
    package init() {}
    /// The given features.
    package init(_ features: PairingFeatures) { self.features = features }
    package mutating func code<C: FieldCoder>(_ coder: inout C) throws(PacketError) { try features.code(&coder) }
}

/// Pairing Response (Core Vol 3 Part H 3.5.2).
package struct PairingResponse: SMPPacket {
    /// The command's code.
    package static let code = SMPCode.pairingResponse
    /// What the responder has and wants.
    package var features = PairingFeatures()
    /// No capabilities, no wishes.
    package init() {}
    /// The given features.
    package init(_ features: PairingFeatures) { self.features = features }
    package mutating func code<C: FieldCoder>(_ coder: inout C) throws(PacketError) { try features.code(&coder) }
}

/// Security Request: a peripheral wants the link encrypted (Core Vol 3 Part H 3.6.7).
package struct SecurityRequest: SMPPacket {
    /// The command's code.
    package static let code = SMPCode.securityRequest
    /// What the peripheral wants.
    package var requirements = AuthenticationRequirements()
    /// No wishes.
    package init() {}
    /// The given wishes.
    package init(_ requirements: AuthenticationRequirements) { self.requirements = requirements }
    package mutating func code<C: FieldCoder>(_ coder: inout C) throws(PacketError) {
        try coder.field("AuthReq", &requirements)
    }
}
