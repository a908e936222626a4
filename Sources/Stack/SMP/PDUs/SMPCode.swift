import BluetoothTypes

/// The code of a Security Manager command (Core Vol 3 Part H 3.3).
package struct SMPCode: WireValue, CustomStringConvertible {
    package var rawValue: UInt8

    package init(rawValue: UInt8) { self.rawValue = rawValue }

    /// Starts a pairing, from central to peripheral.
    package static let pairingRequest = SMPCode(rawValue: 0x01)
    /// Accepts a Pairing Request.
    package static let pairingResponse = SMPCode(rawValue: 0x02)
    /// Commits the sender to values that it reveals later.
    package static let pairingConfirm = SMPCode(rawValue: 0x03)
    /// Reveals the nonce of the sender.
    package static let pairingRandom = SMPCode(rawValue: 0x04)
    /// Ends a pairing without keys.
    package static let pairingFailed = SMPCode(rawValue: 0x05)
    /// Distributes a long-term key of legacy pairing.
    package static let encryptionInformation = SMPCode(rawValue: 0x06)
    /// Distributes the EDIV and Rand values of that key.
    package static let centralIdentification = SMPCode(rawValue: 0x07)
    /// Distributes an identity resolving key.
    package static let identityInformation = SMPCode(rawValue: 0x08)
    /// Distributes an identity address.
    package static let identityAddressInformation = SMPCode(rawValue: 0x09)
    /// Distributes a signature key.
    package static let signingInformation = SMPCode(rawValue: 0x0A)
    /// Asks the central to encrypt or pair, from the peripheral.
    package static let securityRequest = SMPCode(rawValue: 0x0B)
    /// Sends a public key.
    package static let pairingPublicKey = SMPCode(rawValue: 0x0C)
    /// Proves that both devices saw the same LE Secure Connections exchange.
    package static let pairingDHKeyCheck = SMPCode(rawValue: 0x0D)
    /// Reports keyboard input during passkey entry.
    package static let keypressNotification = SMPCode(rawValue: 0x0E)

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

/// The fields of a Security Manager command, without its code (Core Vol 3 Part H 3.3).
package protocol SMPPacket: PacketFields, Hashable, Sendable {
    static var code: SMPCode { get }
}

extension SMPPacket {
    /// Returns the encoded command, code first, with headroom for the layers below.
    package func framed() -> PacketBuffer {
        var buffer = PacketBuffer(capacity: 1 + SMPCommand.longest)
        buffer.append(Self.code.rawValue)
        write(to: &buffer)
        return buffer
    }
}
