import BluetoothTypes

/// A line between the process of an app, or of a tool, and the service: it takes whole messages, and brings whole messages. What is
/// behind it is a socket, or memory in a test. Lives on a loop.
package protocol MessageLine: AnyObject {
    /// Takes each message that arrives.
    var onReceive: ((PacketBuffer) -> Void)? { get set }
    /// Called once when the line is gone, unless it was closed here.
    var onClose: ((MessageLineError) -> Void)? { get set }
    /// Called when the other end begins or ceases to take what is sent.
    var onRoom: ((Bool) -> Void)? { get set }

    /// Sends a message.
    func send(_ message: PacketBuffer)
    /// Whether what comes is taken. What is not taken waits at the other end.
    func read(_ isReading: Bool)
    /// Closes the line when what was sent is out.
    func close()
    /// Ends the line for a reason, which whoever has it is told.
    func lost(_ error: MessageLineError)
}
