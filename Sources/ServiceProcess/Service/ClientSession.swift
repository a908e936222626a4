import BluetoothService
import BluetoothTypes
import EventLoops

/// One process that has connected to the service: it says who it is, and then speaks as an app or as a tool. Whatever it does, or does
/// not do, is between it and its own (AB-G05).
///
/// Lives on the loop.
final class ClientSession {
    /// How long a process may take to say who it is.
    static let patience = Duration.seconds(5)

    private enum State {
        case greeting(ScheduledTask)
        case open(any Conversation)
        case closed
    }

    /// Called once the process is gone.
    var onEnd: (() -> Void)?

    private let line: any MessageLine
    private let caller: Caller
    private unowned let server: ServiceClients
    private var state = State.closed

    init(_ line: any MessageLine, _ caller: Caller, server: ServiceClients) {
        self.line = line
        self.caller = caller
        self.server = server
        let timer = server.loop.schedule(after: Self.patience) { [weak self] in
            self?.refuse("nothing was said within \(Self.patience)")
        }
        state = .greeting(timer)
        line.onReceive = { [weak self] in self?.received($0) }
        line.onClose = { [weak self] _ in self?.ended() }
        line.onRoom = { [weak self] in self?.roomChanged($0) }
    }

    private func received(_ message: PacketBuffer) {
        do throws(PacketError) {
            switch state {
            case .greeting(let timer): try greet(message, timer)
            case .open(let conversation):
                if let complaint = try conversation.received(message) { refuse(complaint) }
            case .closed: break
            }
        } catch {
            refuse("a message cannot be read: \(error)")
        }
    }

    /// The first message.
    private func greet(_ message: PacketBuffer, _ timer: ScheduledTask) throws(PacketError) {
        guard let version = Opening.version(in: message) else { return refuse("it begins with no opening") }
        guard version == Hello.version else {
            return refuse(
                "it speaks version \(version) of the messages, and the service \(Hello.version); both have to be of one release"
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

    /// What is told waits while nobody reads it, and what is asked for meanwhile is not read either.
    private func roomChanged(_ hasRoom: Bool) {
        line.read(hasRoom)
        if case .open(let conversation) = state { conversation.roomChanged(hasRoom) }
    }

    private func refuse(_ reason: String) {
        end(ServiceError(.invalidParameters, reason: "the Bluetooth service has ended the conversation: \(reason)"))
    }

    /// What it speaks as; nil before it has said that, and after its end.
    var conversation: (any Conversation)? { if case .open(let conversation) = state { conversation } else { nil } }

    /// Ends the conversation, and says why.
    func end(_ error: ServiceError) {
        if case .closed = state { return }
        server.refused(caller, error)
        line.send(farewell(error))
        line.close()
        ended()
    }

    private func farewell(_ error: ServiceError) -> PacketBuffer {
        if case .open(let conversation) = state { return conversation.farewell(error) }
        return ServiceMessage.goodbye(error).encoded()
    }

    private func ended() {
        let old = state
        state = .closed
        switch old {
        case .greeting(let timer): server.loop.cancel(timer)
        case .open(let conversation): conversation.ended()
        case .closed: return
        }
        onEnd?()
    }
}

/// What a process and the service say to each other once it is clear who it is. On the loop.
protocol Conversation: AnyObject {
    /// Ends it from the side of the service. Whoever has the line sets this.
    var dismiss: ((ServiceError) -> Void)? { get set }
    /// The other end has been welcomed.
    func begin()
    /// Takes a message.
    ///
    /// - Returns: Why the conversation has to end, for a message that has no place in it.
    func received(_ message: PacketBuffer) throws(PacketError) -> String?
    /// The last message, which says why the service ends the conversation.
    func farewell(_ error: ServiceError) -> PacketBuffer
    /// The other end takes what is sent, or does not.
    func roomChanged(_ hasRoom: Bool)
    /// The other end is gone.
    func ended()
}
