import BluetoothTypes

/// The input and output capabilities of a device (Core Vol 3 Part H 2.3.2).
package struct IOCapability: WireValue, CustomStringConvertible {
    package var rawValue: UInt8
    package init(rawValue: UInt8) { self.rawValue = rawValue }

    /// The device can display six digits and has no input.
    package static let displayOnly = IOCapability(rawValue: 0)
    /// The device can display six digits, and the user can answer yes or no.
    package static let displayYesNo = IOCapability(rawValue: 1)
    /// The user can enter six digits on the device, which has no display.
    package static let keyboardOnly = IOCapability(rawValue: 2)
    package static let noInputNoOutput = IOCapability(rawValue: 3)
    /// The device can display six digits, and the user can enter them.
    package static let keyboardDisplay = IOCapability(rawValue: 4)
    package static let all = [displayOnly, displayYesNo, keyboardOnly, noInputNoOutput, keyboardDisplay]

    package var isValid: Bool { rawValue <= 4 }

    package var description: String {
        let names = [
            "display only", "display, yes or no", "keyboard only", "no input, no output", "keyboard and display",
        ]
        return isValid ? names[Int(rawValue)] : "capability \(rawValue)"
    }
}

/// The authentication requirements (AuthReq) of a device (Core Vol 3 Part H 3.5.1). Reserved bits are preserved and
/// ignored.
package struct AuthenticationRequirements: WireValue, OptionSet, CustomStringConvertible {
    package var rawValue: UInt8
    package init(rawValue: UInt8) { self.rawValue = rawValue }

    package static let bonding = AuthenticationRequirements(rawValue: 0x01)
    /// The device wants MITM protection.
    package static let protection = AuthenticationRequirements(rawValue: 0x04)
    package static let secureConnections = AuthenticationRequirements(rawValue: 0x08)
    package static let keypress = AuthenticationRequirements(rawValue: 0x10)
    /// The device supports the function h7.
    package static let h7 = AuthenticationRequirements(rawValue: 0x20)

    package var description: String {
        let names: [(AuthenticationRequirements, String)] = [
            (.bonding, "bonding"), (.protection, "MITM"), (.secureConnections, "SC"), (.keypress, "keypress"),
            (.h7, "CT2"),
        ]
        return "[" + names.filter { contains($0.0) }.map(\.1).joined(separator: ", ") + "]"
    }
}

/// The kinds of keys that a device distributes (Core Vol 3 Part H 3.6.1).
package struct KeyKinds: WireValue, OptionSet {
    package var rawValue: UInt8
    package init(rawValue: UInt8) { self.rawValue = rawValue }

    /// A long-term key of legacy pairing.
    package static let encryption = KeyKinds(rawValue: 0x01)
    /// An identity resolving key and the identity address.
    package static let identity = KeyKinds(rawValue: 0x02)
    /// A connection signature resolving key (CSRK).
    package static let signing = KeyKinds(rawValue: 0x04)
    /// A link key for BR/EDR, derived from the long-term key.
    package static let link = KeyKinds(rawValue: 0x08)
}

/// The pairing features that both devices exchange first: the fields of Pairing Request and Pairing Response (Core Vol
/// 3 Part H 3.5.1, 3.5.2).
package struct PairingFeatures: PacketFields, Hashable, Sendable {
    package var ioCapability = IOCapability.noInputNoOutput
    /// 1 if the sender has received the peer's authentication data out of band.
    package var outOfBandFlag: UInt8 = 0
    package var requirements = AuthenticationRequirements()
    /// The maximum encryption key size, 7 to 16 octets.
    package var maximumKeySize: UInt8 = 16
    package var initiatorKeys = KeyKinds()
    package var responderKeys = KeyKinds()

    package init() {}

    package mutating func code<C: FieldCoder>(_ coder: inout C) throws(PacketError) {
        try coder.field("IO Capability", &ioCapability)
        try coder.field("OOB data flag", &outOfBandFlag)
        try coder.field("AuthReq", &requirements)
        try coder.field("Maximum Encryption Key Size", &maximumKeySize)
        try coder.field("Initiator Key Distribution", &initiatorKeys)
        try coder.field("Responder Key Distribution", &responderKeys)
    }

    /// Whether no field has a reserved value; reserved bits are ignored (Vol 3 Part H 3.3).
    package var isValid: Bool { ioCapability.isValid && outOfBandFlag <= 1 && (7...16).contains(maximumKeySize) }

    /// The input of c1 and f6: AuthReq, OOB data flag and IO capability, least significant octet first.
    var capabilities: [UInt8] { [requirements.rawValue, outOfBandFlag, ioCapability.rawValue] }
}

/// Pairing Request (Core Vol 3 Part H 3.5.1).
package struct PairingRequest: SMPPacket {
    package static let code = SMPCode.pairingRequest
    package var features = PairingFeatures()
    package init() {}
    package init(_ features: PairingFeatures) { self.features = features }
    package mutating func code<C: FieldCoder>(_ coder: inout C) throws(PacketError) { try features.code(&coder) }
}

/// Pairing Response (Core Vol 3 Part H 3.5.2).
package struct PairingResponse: SMPPacket {
    package static let code = SMPCode.pairingResponse
    package var features = PairingFeatures()
    package init() {}
    package init(_ features: PairingFeatures) { self.features = features }
    package mutating func code<C: FieldCoder>(_ coder: inout C) throws(PacketError) { try features.code(&coder) }
}

/// Security Request, with which a peripheral asks for security (Core Vol 3 Part H 3.6.7).
package struct SecurityRequest: SMPPacket {
    package static let code = SMPCode.securityRequest
    package var requirements = AuthenticationRequirements()
    package init() {}
    package init(_ requirements: AuthenticationRequirements) { self.requirements = requirements }
    package mutating func code<C: FieldCoder>(_ coder: inout C) throws(PacketError) {
        try coder.field("AuthReq", &requirements)
    }
}
