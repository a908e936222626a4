import Administration
import BluetoothService
import BluetoothTypes
import EventLoops
import ServiceMessages
import ServiceProcess
import Synchronization

/// The phone's end of a conversation with a tool of this process. Used by the thread of the world.
final class WorldTool {
    /// An event for this end.
    enum Event: Sendable {
        case began(WorldOutlet)
        case received(PacketBuffer)
        /// The tool has handled all that was sent.
        case hasRoom
        case ended
    }

    let outlet: WorldOutlet
    private var conversation: ToolConversation?

    init(_ outlet: WorldOutlet) {
        self.outlet = outlet
    }

    func handle(_ event: Event, _ system: BluetoothSystem) {
        switch event {
        case .received(let message): received(message, system)
        case .hasRoom: conversation?.canSend = true
        case .began, .ended: break
        }
    }

    /// Sends the packets that were collected, because the time of the world stands still.
    func flush() {
        conversation?.fillsMessages = false
        conversation?.showsAir = true
        conversation?.flush()
    }

    /// Sends packets in full messages until ``flush()``, because the world is on its way to another instant.
    ///
    /// - Parameter showsAir: Whether packets on the air are sent, too.
    func hurry(showsAir: Bool) {
        conversation?.fillsMessages = true
        conversation?.showsAir = showsAir
    }

    private func received(_ message: PacketBuffer, _ system: BluetoothSystem) {
        guard let conversation else { return receiveHello(message, system) }
        guard let message = try? ToolMessage(reading: message) else { return end() }
        guard !Self.isAct(message) else { return refuse(message) }
        conversation.handle(message)
        conversation.canSend = outlet.hasRoom
    }

    private func receiveHello(_ message: PacketBuffer, _ system: BluetoothSystem) {
        guard case .tool(Hello.version) = try? Opening(reading: message) else { return end() }
        let outlet = outlet
        conversation = ToolConversation(
            system: system,
            rights: .control,
            hasRoom: { outlet.hasRoom },
            send: { outlet.send($0.encoded()) }
        )
        outlet.send(ServiceMessage.welcome(Welcome()).encoded())
    }

    /// Whether a message would change the world, in a way that a saved test does not repeat.
    private static func isAct(_ message: ToolMessage) -> Bool {
        switch message {
        case .ask(_, .app), .ask(_, .forgetBond), .ask(_, .accessory): true
        default: false
        }
    }

    private func refuse(_ message: ToolMessage) {
        guard case .ask(let number, _) = message else { return }
        let error = ServiceError(
            .operationNotSupported,
            reason: "use the view of the world, so that a test can repeat it"
        )
        outlet.send(ToolReply.answer(number: number, .failure(error)).encoded())
    }

    func end() {
        conversation?.close()
        conversation = nil
        outlet.close()
    }
}

/// The way from the world to a tool on another loop. From any thread.
final class WorldOutlet: Sendable {
    /// The number of messages on their way from which on events are counted and dropped.
    static let maximumPending = 1_024

    /// The tool's end, which may be gone.
    struct End {
        weak var line: WorldLine?
    }

    private let pending = Atomic(0)
    private let wasFull = Atomic(false)
    /// The messages that the tool's loop is to take, with one call for all.
    private let waiting = Mutex<[PacketBuffer]>([])
    private let end: LoopBound<End>

    init(_ end: LoopBound<End>) {
        self.end = end
    }

    var hasRoom: Bool {
        let hasRoom = pending.load(ordering: .relaxed) < Self.maximumPending
        if !hasRoom { wasFull.store(true, ordering: .relaxed) }
        return hasRoom
    }

    /// Whether a world that can wait is to wait, so that nothing is dropped.
    var isBusy: Bool { pending.load(ordering: .relaxed) >= Self.maximumPending / 16 }

    func send(_ message: PacketBuffer) {
        pending.add(1, ordering: .relaxed)
        let isFirst = waiting.withLock { waiting in
            waiting.append(message)
            return waiting.count == 1
        }
        if isFirst { end.loop.submit { [self] in deliver() } }
    }

    private func deliver() {
        let messages = waiting.withLock { waiting in
            defer { waiting = [] }
            return waiting
        }
        for message in messages {
            let left = pending.subtract(1, ordering: .relaxed).newValue
            end.value.line?.arrived(message)
            if left == 0, wasFull.exchange(false, ordering: .relaxed) { end.value.line?.reportRoom() }
        }
    }

    func close() {
        end.loop.submit { [end] in end.value.line?.lost(.closedByPeer) }
    }
}

/// Connects tools of this process with the phone of a world. Used on the tools' loop.
package struct WorldDialer: Dialer {
    private let world: WorldRunner
    private let loop: any EventLoop

    package init(_ world: WorldRunner, loop: any EventLoop) {
        (self.world, self.loop) = (world, loop)
    }

    package func dial(_ completion: @escaping (Result<any MessageLine, MessageLineError>) -> Void) {
        let line = WorldLine(world, loop: loop)
        loop.schedule(at: loop.now) { completion(.success(line)) }
    }
}

/// A tool's end of the conversation. Used on the tool's loop.
final class WorldLine: MessageLine {
    var onReceive: ((PacketBuffer) -> Void)?
    var onClose: ((MessageLineError) -> Void)?
    var onRoom: ((Bool) -> Void)?
    let hasRoom = true

    private let world: WorldRunner
    private let number: UInt64

    init(_ world: WorldRunner, loop: any EventLoop) {
        self.world = world
        number = world.nextTool()
        let end = LoopBound(WorldOutlet.End(line: self), loop: loop)
        world.add(.tool(number, .began(WorldOutlet(end))))
    }

    func send(_ message: PacketBuffer) { world.add(.tool(number, .received(message))) }
    func read(_ isReading: Bool) {}

    func close() {
        (onReceive, onClose) = (nil, nil)
        world.add(.tool(number, .ended))
    }

    func lost(_ error: MessageLineError) {
        let onClose = onClose
        close()
        onClose?(error)
    }

    fileprivate func arrived(_ message: PacketBuffer) { onReceive?(message) }
    fileprivate func reportRoom() { world.add(.tool(number, .hasRoom)) }
}
