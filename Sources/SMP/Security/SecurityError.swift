/// Why a link is not as secure as somebody wanted it.
package enum SecurityError: Error, Hashable, Sendable {
    /// Pairing came to nothing.
    case pairing(PairingError)
    /// The peer has removed the bond. It is kept here until a person removes it (behaviour 6.12).
    case peerLostKey
    /// The peer did not answer to encryption.
    case encryptionTimedOut
    /// The link could not be encrypted, for another reason.
    case encryptionFailed
    /// A person said no, or nobody was asked.
    case refusedByPerson
    /// The link is gone.
    case linkLost
    /// The owner does not let these two pair now: too soon after attempts that failed, or against its rules.
    case notAllowed
    /// A pairing is needed, and cannot be had with what this device is able to do. None was begun.
    case cannotPair(PairingObstacle)
    /// Pairing led to a key that is not as good as what is needed.
    case tooWeak
    /// The keys could not be kept, or must not take the place of those that are there (AB-S10).
    case keysRefused
    /// The bond was forgotten here, or its key replaced, before the link was secure.
    case forgotten
    /// Somebody called ``SecurityManager/cancel()``.
    case cancelled
}

extension SecurityError: CustomStringConvertible {
    /// What happened, for a person.
    package var description: String {
        switch self {
        case .pairing(let error): "\(error)"
        case .peerLostKey: "the peer has removed its pairing information"
        case .encryptionTimedOut: "the peer did not answer when the link was to be encrypted"
        case .encryptionFailed: "the link could not be encrypted"
        case .refusedByPerson: "nobody agreed to the pairing"
        case .linkLost: "the link was lost"
        case .notAllowed: "pairing with this device is not allowed now"
        case .cannotPair(let obstacle): "a pairing is needed and was not begun: \(obstacle)"
        case .tooWeak: "the pairing is less secure than what is needed"
        case .keysRefused: "the keys of the pairing could not be kept"
        case .forgotten: "the pairing with the device was removed here meanwhile"
        case .cancelled: "it was cancelled"
        }
    }
}
