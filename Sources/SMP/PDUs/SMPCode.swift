import BluetoothTypes

/// A command's code on the Security Manager's channel (Core Vol 3 Part H 3.3).
package struct SMPCode: WireValue, CustomStringConvertible {
    package var rawValue: UInt8

    /// Any number, known or not.
    package init(rawValue: UInt8) { self.rawValue = rawValue }

    /// The central asks for pairing.
    package static let pairingRequest = SMPCode(rawValue: 0x01)
    /// The peripheral agrees.
    package static let pairingResponse = SMPCode(rawValue: 0x02)
    /// What binds a side to values that it shows later.
    package static let pairingConfirm = SMPCode(rawValue: 0x03)
    /// A random value.
    package static let pairingRandom = SMPCode(rawValue: 0x04)
    /// Pairing is over without a key.
    package static let pairingFailed = SMPCode(rawValue: 0x05)
    /// A long-term key of legacy pairing.
    package static let encryptionInformation = SMPCode(rawValue: 0x06)
    /// How that key is asked for.
    package static let centralIdentification = SMPCode(rawValue: 0x07)
    /// An identity resolving key.
    package static let identityInformation = SMPCode(rawValue: 0x08)
    /// An identity address.
    package static let identityAddressInformation = SMPCode(rawValue: 0x09)
    /// A key for signatures.
    package static let signingInformation = SMPCode(rawValue: 0x0A)
    /// The peripheral asks the central for pairing or encryption.
    package static let securityRequest = SMPCode(rawValue: 0x0B)
    /// A public key.
    package static let pairingPublicKey = SMPCode(rawValue: 0x0C)
    /// The check of LE Secure Connections.
    package static let pairingDHKeyCheck = SMPCode(rawValue: 0x0D)
    /// A person types.
    package static let keypressNotification = SMPCode(rawValue: 0x0E)

    /// The name for a log.
    package var description: String {
        let names = [
            "Pairing Request", "Pairing Response", "Pairing Confirm", "Pairing Random", "Pairing Failed",
            "Encryption Information", "Central Identification", "Identity Information", "Identity Address Information",
            "Signing Information", "Security Request", "Pairing Public Key", "Pairing DHKey Check",
            "Keypress Notification",
        ]
        return (1...names.count).contains(Int(rawValue)) ? names[Int(rawValue) - 1] : "code \(rawValue)"
    }
}

/// The fields of a command after its code (Core Vol 3 Part H 3.3).
package protocol SMPPacket: PacketFields, Hashable, Sendable {
    /// The command's code.
    static var code: SMPCode { get }
}

extension SMPPacket {
    /// The command as octets, code first, with headroom for the layers below.
    package func framed() -> PacketBuffer {
        var buffer = PacketBuffer(capacity: 1 + SMPCommand.longest)
        buffer.append(Self.code.rawValue)
        write(to: &buffer)
        return buffer
    }
}
