import BluetoothTypes

/// A line between the process of an app, or of a tool, and the service: it takes whole messages, and brings whole messages. What is
/// behind it is a socket, or memory in a test. Lives on a loop.
///
/// A line never calls its owner from inside a call of one of its own methods: each callback runs in a task of its own, in the order of what it
/// reports. Inside a callback the owner may call any method.
package protocol MessageLine: AnyObject {
    /// Takes each message that arrives.
    var onReceive: ((PacketBuffer) -> Void)? { get set }
    /// Called once when the line is gone, unless it was closed here.
    var onClose: ((MessageLineError) -> Void)? { get set }
    /// Called when the other end begins or ceases to take what is sent, after ``hasRoom`` has changed.
    var onRoom: ((Bool) -> Void)? { get set }
    /// Whether the other end takes what is sent now. When this is false and the line is open, ``onRoom`` reports later that it is true.
    var hasRoom: Bool { get }

    /// Sends a message.
    func send(_ message: PacketBuffer)
    /// Whether what comes is taken. What is not taken waits at the other end.
    func read(_ isReading: Bool)
    /// Closes the line when what was sent is out. Calls nothing afterwards.
    func close()
    /// Ends the line for a reason, which ``onClose`` reports.
    func lost(_ error: MessageLineError)
}
