import BluetoothTypes
import Cryptography
import HCI
import SMP

/// The pairing of a link, from the features to the keys.
struct PairingStory: Sendable {
    /// An event of a pairing.
    enum News: Sendable {
        case text(String)
        case failed(String)
        /// A key, and the identity that it belongs to.
        case identity(Key128, BluetoothAddress)
    }

    private var request: PairingFeatures?
    private var response: PairingFeatures?
    private var irk = PerSide<Key128?>(nil)
    /// Whether the features are exchanged, and encryption is still to come.
    private(set) var isRunning = false
    /// The last packet of a pairing in progress, and the end that sent it.
    private(set) var last: (side: StorySide, moment: StoryMoment)?
    /// Whether the devices paired by passkey entry.
    private(set) var usesPasskey = false
    /// How the devices paired, in words.
    private(set) var method: String?
    private(set) var result: String?

    mutating func receive(_ command: PacketBuffer, from side: StorySide, _ moment: StoryMoment, name: String) -> [News]
    {
        guard let code = command.octet(at: 0) else { return [] }
        let data = command.suffix(after: 1)
        if SMPCode(rawValue: code) == .pairingRequest || last != nil { last = (side, moment) }
        switch SMPCode(rawValue: code) {
        case .securityRequest:
            let wanted = AuthenticationRequirements(rawValue: data.octet(at: 0) ?? 0)
            return [.text("\(name) asks for security \(wanted)")]
        case .pairingRequest:
            (request, response, result) = (try? PairingFeatures(reading: data), nil, nil)
            return request.map { [.text("pairing begins: \(Self.words($0, name))")] } ?? []
        case .pairingResponse: return respond(data, name)
        case .pairingFailed:
            let reason = PairingFailure(rawValue: data.octet(at: 0) ?? 0)
            (isRunning, last, result) = (false, nil, "failed: \(reason)")
            return [.failed("pairing failed, \(name) reports: \(reason)")]
        case .identityInformation:
            irk[side] = Key128(littleEndian: data)
            return []
        case .identityAddressInformation:
            guard let kind = data.octet(at: 0), let address = data.address(at: 1, isRandom: kind & 1 == 1) else {
                return []
            }
            let identity: [News] = irk[side].map { [.identity($0, address)] } ?? []
            return [.text("\(name) gives its identity \(address) and the key that resolves its private addresses")]
                + identity
        case .encryptionInformation: return [.text("\(name) distributes a long-term key")]
        case .signingInformation: return [.text("\(name) distributes a signature key")]
        default: return []
        }
    }

    private mutating func respond(_ data: PacketBuffer, _ name: String) -> [News] {
        response = try? PairingFeatures(reading: data)
        guard let request, let response else { return [] }
        let isSecure = [request, response].allSatisfy { $0.requirements.contains(.secureConnections) }
        let model = AssociationModel.of(initiator: request, responder: response, isSecureConnections: isSecure)
        let kind = isSecure ? "LE Secure Connections" : "legacy pairing"
        let size = min(request.maximumKeySize, response.maximumKeySize)
        let bonds = [request, response].allSatisfy { $0.requirements.contains(.bonding) }
        method = "\(kind), \(StoryWords.method(model)), \(size * 8)-bit key, \(bonds ? "bonding" : "no bonding")"
        isRunning = true
        if case .passkey = model { usesPasskey = true } else { usesPasskey = false }
        return [.text("\(Self.words(response, name)); this results in \(method ?? "")")]
    }

    /// Forgets a pairing in progress, whose end may have been missed.
    mutating func forgetPending() {
        (request, response, last) = (nil, nil, nil)
        guard isRunning else { return }
        (isRunning, result) = (false, "its end may be missing")
    }

    /// Ends a pairing with the encryption of the link.
    ///
    /// - Returns: Whether a pairing was going on.
    mutating func encrypted() -> Bool {
        guard isRunning else { return false }
        (isRunning, last, result) = (false, nil, "succeeded")
        return true
    }

    private static func words(_ features: PairingFeatures, _ name: String) -> String {
        "\(name) has \(features.ioCapability), wants \(features.requirements)"
    }
}
