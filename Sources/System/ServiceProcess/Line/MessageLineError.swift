/// The reason why there is no connection between an app and the service, or why it ended.
package enum MessageLineError: Error, Hashable, Sendable {
    /// No service is listening at the path.
    case unreachable(path: String, reason: String)
    /// The peer has closed the connection or ended.
    case closedByPeer
    /// The peer sent something that is not a message of this protocol.
    case malformed(String)
    /// The peer does not read, and too much is queued for it.
    case notTaken(octets: Int)
    /// The operating system reported an error.
    case failed(reason: String)
}

extension MessageLineError: CustomStringConvertible {
    /// The problem, and a remedy if there is one.
    package var description: String {
        switch self {
        case .unreachable(let path, let reason):
            "no Bluetooth service is listening at \(path): \(reason); start one with `harald service`"
        case .closedByPeer: "the peer is gone"
        case .malformed(let what):
            "the peer sent an invalid message: \(what); use programs of the same release on both sides"
        case .notTaken(let octets): "the peer does not read, and \(octets) octets wait for it"
        case .failed(let reason): reason
        }
    }
}
