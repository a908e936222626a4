/// An error that is reported when a link could not be secured as requested.
package enum SecurityError: Error, Hashable, Sendable {
    case pairing(PairingError)
    /// The peer has removed the bond. This side keeps it until the user removes it (behaviour 6.12).
    case peerLostKey
    case encryptionTimedOut
    case encryptionFailed
    /// The user declined, or there was no delegate to ask the user.
    case refusedByPerson
    case linkLost
    /// Pairing is not allowed now: too soon after failed attempts, against the owner's rules, or with too many callers
    /// waiting.
    case notAllowed
    /// A pairing is required but was not started, because the capabilities of this device rule it out.
    case cannotPair(PairingObstacle)
    case tooWeak
    /// The keys could not be stored, or must not replace the existing ones (AB-S10).
    case keysRefused
    /// The bond was removed, or its key replaced, on this side before the link was secure.
    case forgotten
    /// ``SecurityManager/cancel()`` was called before the link was secure.
    case cancelled
}

extension SecurityError: CustomStringConvertible {
    package var description: String {
        switch self {
        case .pairing(let error): "\(error)"
        case .peerLostKey: "the peer has removed its pairing information"
        case .encryptionTimedOut: "the peer did not respond to the request to encrypt the link"
        case .encryptionFailed: "the link could not be encrypted"
        case .refusedByPerson: "the pairing was not accepted on this device"
        case .linkLost: "the link was lost"
        case .notAllowed: "pairing with this device is not allowed at the moment; try again later"
        case .cannotPair(let obstacle): "pairing is required but was not started: \(obstacle)"
        case .tooWeak: "the pairing is less secure than required"
        case .keysRefused: "the keys of the pairing could not be stored"
        case .forgotten: "the pairing with the device was removed on this side in the meantime"
        case .cancelled: "the request was cancelled"
        }
    }
}
