import BluetoothTypes
import EventLoops
import ServiceProcess

/// One end of a connection whose other end is the input.
final class FuzzLine: MessageLine {
    var onReceive: ((PacketBuffer) -> Void)?
    var onClose: ((MessageLineError) -> Void)?
    var onRoom: ((Bool) -> Void)?
    /// Called with each message sent.
    var onSend: (PacketBuffer) -> Void = { _ in }
    private(set) var isOpen = true
    var hasRoom: Bool { isOpen }
    private var isReading = true
    private var parser = FrameParser()

    /// Receives octets, as from a socket.
    func take(_ octets: [UInt8]) {
        guard isOpen, isReading else { return }
        do throws(FrameParser.TooLong) {
            for message in try parser.parse(PacketBuffer(octets)) where isOpen { onReceive?(message) }
        } catch {
            lost(.malformed("it has \(error.length) octets"))
        }
    }

    func send(_ message: PacketBuffer) {
        if isOpen { onSend(message) }
    }

    func read(_ isReading: Bool) { self.isReading = isReading }

    func close() { isOpen = false }

    func lost(_ error: MessageLineError) {
        guard isOpen else { return }
        isOpen = false
        onClose?(error)
    }
}
