import BluetoothTypes
import Cryptography

/// A decoded Security Manager command (Core Vol 3 Part H 3.3).
package enum SMPCommand: Hashable, Sendable {
    case pairingRequest(PairingRequest)
    case pairingResponse(PairingResponse)
    case confirm(PairingConfirm)
    case random(PairingRandom)
    case failed(PairingFailed)
    case encryptionInformation(EncryptionInformation)
    case centralIdentification(CentralIdentification)
    case identityInformation(IdentityInformation)
    case identityAddress(IdentityAddressInformation)
    case signingInformation(SigningInformation)
    case securityRequest(SecurityRequest)
    case publicKey(PairingPublicKey)
    case dhKeyCheck(PairingDHKeyCheck)
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

    package func framed() -> PacketBuffer { packet.framed() }

    package var code: SMPCode { type(of: packet).code }

    package var packet: any SMPPacket {
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
