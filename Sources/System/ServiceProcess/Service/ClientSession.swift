import BluetoothTypes
import EventLoops
import ServiceMessages

/// A process that has connected to the service. Its first message tells whether it is an app or a tool, and starts the
/// corresponding conversation. Misbehaviour only affects this session (AB-G05).
///
/// Used on the event loop.
final class ClientSession {
    /// How long a process may take to send its first message.
    static let helloTimeout = Duration.seconds(5)

    private enum State {
        case handshaking(ScheduledTask)
        case open(any Conversation)
        case closed
    }

    var onEnd: (() -> Void)?

    private let line: any MessageLine
    private let caller: Caller
    private unowned let server: ServiceClients
    private var state = State.closed

    init(_ line: any MessageLine, _ caller: Caller, server: ServiceClients) {
        self.line = line
        self.caller = caller
        self.server = server
        let timer = server.loop.schedule(after: Self.helloTimeout) { [weak self] in
            self?.refuse("no message arrived within \(Self.helloTimeout)")
        }
        state = .handshaking(timer)
        line.onReceive = { [weak self] in self?.received($0) }
        line.onClose = { [weak self] _ in self?.ended() }
        line.onRoom = { [weak self] in self?.roomChanged($0) }
    }

    private func received(_ message: PacketBuffer) {
        do throws(PacketError) {
            switch state {
            case .handshaking(let timer): try receiveHello(message, timer)
            case .open(let conversation):
                if let complaint = try conversation.received(message) { refuse(complaint) }
            case .closed: break
            }
        } catch {
            refuse("a message cannot be decoded: \(error)")
        }
    }

    private func receiveHello(_ message: PacketBuffer, _ timer: ScheduledTask) throws(PacketError) {
        guard let version = Opening.version(in: message) else { return refuse("the first message is not an opening") }
        guard version == Hello.version else {
            return refuse(
                "it uses protocol version \(version), and the service \(Hello.version); use both from the same release"
            )
        }
        let opening = try Opening(reading: message)
        server.loop.cancel(timer)
        switch server.open(opening, caller, line) {
        case .success(let conversation):
            state = .open(conversation)
            conversation.dismiss = { [weak self] in self?.end($0) }
            line.send(ServiceMessage.welcome(Welcome()).encoded())
            conversation.begin()
        case .failure(let error): end(error)
        }
    }

    /// While the process does not read, events wait and its requests are not read either.
    private func roomChanged(_ hasRoom: Bool) {
        line.read(hasRoom)
        conversation?.roomChanged(hasRoom)
    }

    private func refuse(_ reason: String) {
        end(ServiceError(.invalidParameters, reason: "the Bluetooth service closed the connection: \(reason)"))
    }

    /// The conversation; nil before the first message and after the end.
    var conversation: (any Conversation)? { if case .open(let conversation) = state { conversation } else { nil } }

    /// Ends the session after sending the reason.
    func end(_ error: ServiceError) {
        if case .closed = state { return }
        server.refused(caller, error)
        line.send(conversation?.closingMessage(error) ?? ServiceMessage.goodbye(error).encoded())
        line.close()
        ended()
    }

    private func ended() {
        let old = state
        state = .closed
        switch old {
        case .handshaking(let timer): server.loop.cancel(timer)
        case .open(let conversation): conversation.ended()
        case .closed: return
        }
        onEnd?()
    }
}

/// The protocol between the service and a process, after the first message. Used on the event loop.
protocol Conversation: AnyObject {
    /// Ends the conversation on behalf of the service. Set by the session.
    var dismiss: ((ServiceError) -> Void)? { get set }
    /// Called after the process has been welcomed.
    func begin()
    /// Handles a message.
    ///
    /// - Returns: The reason to end the conversation after a message that violates the protocol, or nil.
    func received(_ message: PacketBuffer) throws(PacketError) -> String?
    /// Returns the last message, with the reason why the service ends the conversation.
    func closingMessage(_ error: ServiceError) -> PacketBuffer
    /// Called when the process starts or stops reading.
    func roomChanged(_ hasRoom: Bool)
    func ended()
}
