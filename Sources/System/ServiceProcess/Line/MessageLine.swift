import BluetoothTypes

/// A connection between the service and the process of an app or a tool, which carries whole messages. It is based on a
/// socket, or on memory in tests. Used on its event loop.
///
/// A connection never calls its owner from within a call of one of its own methods. Each callback runs in a task of its
/// own, in the order of the events. The owner may call any method from within a callback.
package protocol MessageLine: AnyObject {
    var onReceive: ((PacketBuffer) -> Void)? { get set }
    /// Called once when the connection has ended, unless this side closed it.
    var onClose: ((MessageLineError) -> Void)? { get set }
    /// Called when the peer starts or stops reading, after ``hasRoom`` has changed.
    var onRoom: ((Bool) -> Void)? { get set }
    /// Whether the peer is reading what is sent. While it is false and the connection is open, ``onRoom`` will report
    /// when it becomes true.
    var hasRoom: Bool { get }

    /// Sends a message to the peer. No effect after the end of the connection.
    func send(_ message: PacketBuffer)
    /// Whether to read incoming messages. Messages that are not read wait at the peer.
    func read(_ isReading: Bool)
    /// Closes the connection after the queued messages have been sent. No callback is called afterwards.
    func close()
    /// Ends the connection for a reason, which ``onClose`` reports.
    func lost(_ error: MessageLineError)
}

/// The reason why there is no connection between an app and the service, or why it ended.
package enum MessageLineError: Error, Hashable, Sendable {
    case unreachable(path: String, reason: String)
    /// The peer has closed the connection or ended.
    case closedByPeer
    /// The peer sent something that is not a message of this protocol.
    case malformed(String)
    /// The peer does not read, and too much is queued for it.
    case notTaken(octets: Int)
    case failed(reason: String)
}

extension MessageLineError: CustomStringConvertible {
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
