import BluetoothTypes

/// A command of the Security Manager, decoded (Core Vol 3 Part H 3.3).
package enum SMPCommand: Hashable, Sendable {
    /// The central asks for pairing.
    case pairingRequest(PairingRequest)
    /// The peripheral agrees.
    case pairingResponse(PairingResponse)
    /// What binds a side to values that it shows later.
    case confirm(PairingConfirm)
    /// A random value.
    case random(PairingRandom)
    /// Pairing is over without a key.
    case failed(PairingFailed)
    /// A long-term key of legacy pairing.
    case encryptionInformation(EncryptionInformation)
    /// How that key is asked for.
    case centralIdentification(CentralIdentification)
    /// An identity resolving key.
    case identityInformation(IdentityInformation)
    /// An identity address.
    case identityAddress(IdentityAddressInformation)
    /// A key for signatures.
    case signingInformation(SigningInformation)
    /// The peripheral asks the central for pairing or encryption.
    case securityRequest(SecurityRequest)
    /// A public key.
    case publicKey(PairingPublicKey)
    /// The check of LE Secure Connections.
    case dhKeyCheck(PairingDHKeyCheck)
    /// A person types.
    case keypress(KeypressNotification)

    /// Octets of the longest command after its code: a public key.
    package static let longest = 64

    /// Reads a payload of the Security Manager's channel.
    ///
    /// - Throws: the failure to answer with: an unknown code is a command that is not supported, a wrong length an
    ///   invalid parameter (Vol 3 Part H 3.3, 3.5.5).
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

    /// The command as it goes over the link, with headroom for the layers below.
    package func framed() -> PacketBuffer { packet.framed() }

    /// The command's code.
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
