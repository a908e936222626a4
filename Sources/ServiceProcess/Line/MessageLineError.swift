/// Why there is no line between an app and the service, or none any more.
package enum MessageLineError: Error, Hashable, Sendable {
    /// Nobody answers at a path.
    case unreachable(path: String, reason: String)
    /// The other end has closed it, or is gone.
    case closedByPeer
    /// What came is no message of this conversation.
    case malformed(String)
    /// The other end takes nothing, and too much waits for it.
    case notTaken(octets: Int)
    /// The system says so.
    case failed(reason: String)
}

extension MessageLineError: CustomStringConvertible {
    /// What happened, and what to do where somebody can do something.
    package var description: String {
        switch self {
        case .unreachable(let path, let reason):
            "no Bluetooth service answers at \(path): \(reason); start one with `harald service`"
        case .closedByPeer: "the other end is gone"
        case .malformed(let what): "what came is no message: \(what); both ends have to be of one release"
        case .notTaken(let octets): "the other end does not read, and \(octets) octets wait for it"
        case .failed(let reason): reason
        }
    }
}
