import BluetoothTypes
import Cryptography

/// A decoded Security Manager command (Core Vol 3 Part H 3.3).
package enum SMPCommand: Hashable, Sendable {
    /// Starts a pairing, from central to peripheral.
    case pairingRequest(PairingRequest)
    /// Accepts a Pairing Request.
    case pairingResponse(PairingResponse)
    /// Commits the sender to values that it reveals later.
    case confirm(PairingConfirm)
    /// Reveals the nonce of the sender.
    case random(PairingRandom)
    /// Ends a pairing without keys.
    case failed(PairingFailed)
    /// Distributes a long-term key of legacy pairing.
    case encryptionInformation(EncryptionInformation)
    /// Distributes the EDIV and Rand values of that key.
    case centralIdentification(CentralIdentification)
    /// Distributes an identity resolving key.
    case identityInformation(IdentityInformation)
    /// Distributes an identity address.
    case identityAddress(IdentityAddressInformation)
    /// Distributes a signature key.
    case signingInformation(SigningInformation)
    /// Asks the central to encrypt or pair, from the peripheral.
    case securityRequest(SecurityRequest)
    /// Sends a public key.
    case publicKey(PairingPublicKey)
    /// Proves that both devices saw the same LE Secure Connections exchange.
    case dhKeyCheck(PairingDHKeyCheck)
    /// Reports keyboard input during passkey entry.
    case keypress(KeypressNotification)

    /// The length of the longest command, a public key, in octets without the code.
    package static let longest = 64

    /// Parses a payload of the Security Manager channel.
    ///
    /// - Throws: The ``PairingFailure`` to respond with: `commandNotSupported` for an unknown code, `invalidParameters`
    ///   for a wrong length (Vol 3 Part H 3.3, 3.5.5).
    package init(_ payload: PacketBuffer) throws(PairingFailure) {
        guard let first = payload.first else { throw .invalidParameters }
        let fields = payload.suffix(after: 1)
        do {
            switch SMPCode(rawValue: first) {
            case .pairingRequest: self = .pairingRequest(try PairingRequest(reading: fields))
            case .pairingResponse: self = .pairingResponse(try PairingResponse(reading: fields))
            case .pairingConfirm: self = .confirm(try PairingConfirm(reading: fields))
            case .pairingRandom: self = .random(try PairingRandom(reading: fields))
            case .pairingFailed: self = .failed(try PairingFailed(reading: fields))
            case .encryptionInformation: self = .encryptionInformation(try EncryptionInformation(reading: fields))
            case .centralIdentification: self = .centralIdentification(try CentralIdentification(reading: fields))
            case .identityInformation: self = .identityInformation(try IdentityInformation(reading: fields))
            case .identityAddressInformation: self = .identityAddress(try IdentityAddressInformation(reading: fields))
            case .signingInformation: self = .signingInformation(try SigningInformation(reading: fields))
            case .securityRequest: self = .securityRequest(try SecurityRequest(reading: fields))
            case .pairingPublicKey: self = .publicKey(try PairingPublicKey(reading: fields))
            case .pairingDHKeyCheck: self = .dhKeyCheck(try PairingDHKeyCheck(reading: fields))
            case .keypressNotification: self = .keypress(try KeypressNotification(reading: fields))
            default: throw PairingFailure.commandNotSupported
            }
        } catch let failure as PairingFailure {
            throw failure
        } catch {
            throw .invalidParameters
        }
    }

    /// Returns the encoded command, code first, with headroom for the layers below.
    package func framed() -> PacketBuffer { packet.framed() }

    /// The code of the command.
    package var code: SMPCode { type(of: packet).code }

    private var packet: any SMPPacket {
        switch self {
        case .pairingRequest(let packet): packet
        case .pairingResponse(let packet): packet
        case .confirm(let packet): packet
        case .random(let packet): packet
        case .failed(let packet): packet
        case .encryptionInformation(let packet): packet
        case .centralIdentification(let packet): packet
        case .identityInformation(let packet): packet
        case .identityAddress(let packet): packet
        case .signingInformation(let packet): packet
        case .securityRequest(let packet): packet
        case .publicKey(let packet): packet
        case .dhKeyCheck(let packet): packet
        case .keypress(let packet): packet
        }
    }
}

extension FieldCoder {
    /// Codes 16 octets, least significant first (Core Vol 3 Part H 3.3).
    mutating func block(_ name: String, _ value: inout Block128) throws(PacketError) {
        try field(name, &value.low)
        try field(name, &value.high)
    }

    /// Codes a key of 16 octets, least significant first, whose value never appears in logs.
    mutating func secret(_ name: String, _ value: inout Key128) throws(PacketError) {
        var octets = PacketBuffer(value.littleEndianBytes)
        try secret(name, &octets, count: 16)
        value = Key128(littleEndian: octets) ?? .zero
    }
}
