import BluetoothTypes
import EventLoops
import Logging

/// The host's half of HCI: brings a controller up, sends it commands, and runs the data paths of its connections.
///
/// Lives on the loop. A controller that stops answering, or reports that it has failed, is reset and brought up again:
/// its connections end, commands that wait fail, all with one error, and ``state`` goes through ``State/starting``. One
/// that does not come back leaves ``State/failed(_:)``; ``start()`` tries again.
public final class HCIHost {
    /// How far the host is.
    public enum State: Hashable, Sendable {
        /// Not started, or stopped.
        case down
        /// The controller is being brought up.
        case starting
        /// All works.
        case ready(ControllerInformation)
        /// The controller cannot be used.
        case failed(HCIHostError)
    }

    /// Resets within ``resetWindow`` after which a failing controller is given up.
    public static let maximumResets = 3
    /// See ``maximumResets``.
    public static let resetWindow = Duration.seconds(60)

    /// How far the host is.
    public private(set) var state = State.down
    /// Called after each change of ``state``.
    public var onStateChange: ((State) -> Void)?
    /// Called when a connection has been made, by either role.
    public var onConnection: ((HCIConnection) -> Void)?
    /// Called when a connection could not be made, or its making was cancelled.
    public var onConnectionFailed: ((HCIStatus) -> Void)?
    /// Called when a connection has ended. After a failure of the controller the reason is ``HCIStatus/hardwareFailure``,
    /// after ``stop()`` it is ``HCIStatus/localHostTerminated``.
    public var onDisconnection: ((HCIConnection, HCIStatus) -> Void)?

    private let transport: any HCITransport
    private let loop: any EventLoop
    private let logger: Logger
    private let table: ConnectionTable
    private var subscriptions = EventSubscriptions()

    private var queue = CommandQueue()
    private var completions: [UInt64: (Result<CommandQueue.Answer, HCICommandError>) -> Void] = [:]
    private var nextNumber: UInt64 = 0
    private var timer: ScheduledTask?
    // Raised whenever all that is under way is given up, so that what is still on the stack notices.
    private var generation = 0

    private var bringUp = BringUp()
    private var isResetting = false
    private var resetCause: HCIHostError?
    private var resets: [Instant] = []
    private var transportError: HCITransportError?

    /// A host on one end of a line; it takes over the callbacks of `transport`.
    public init(transport: any HCITransport, loop: any EventLoop, logger: Logger) {
        self.transport = transport
        self.loop = loop
        self.logger = logger
        table = ConnectionTable(loop: loop) { [weak transport] in transport?.send($0) }
        transport.onReceive = { [weak self] in self?.receive($0) }
        transport.onClose = { [weak self] in self?.transportClosed($0) }
    }

    /// What the host has refused to believe so far.
    public var counters: HCICounters { table.counters }

    /// The connections there are, in the order of their numbers.
    public var connections: [HCIConnection] {
        table.connections.values.sorted { $0.handle.rawValue < $1.handle.rawValue }
    }

    /// The connection with this number.
    public func connection(_ handle: ConnectionHandle) -> HCIConnection? {
        table.connections[handle]
    }

    /// Buffers for data that are free in the controller, as far as the host knows.
    public var freeBuffers: Int { table.freeBuffers }

    // MARK: Start, stop, failure

    /// Brings the controller up: ``state`` ends in ready or failed. Nothing happens when that is done or under way.
    public func start() {
        switch state {
        case .starting, .ready: return
        case .down, .failed: break
        }
        if let transportError { return settle(.failed(.transport(transportError))) }
        resetCause = nil
        resets = []
        beginBringUp()
    }

    /// Ends all connections and resets the controller, so that it is silent. The line stays open.
    public func stop() {
        guard state != .down else { return }
        let isRunning = state.isRunning
        giveUp(.notRunning, reason: .localHostTerminated, state: .down)
        guard state == .down else { return }
        if isRunning { transport.send(HCIPacket(Reset())) }
        onStateChange?(.down)
    }

    private func beginBringUp() {
        isResetting = true
        state = .starting
        perform(bringUp.begin())
        if state == .starting { onStateChange?(.starting) }
    }

    private func perform(_ action: BringUp.Action) {
        switch action {
        case .send(let command): ask(command)
        case .fail(let error): settle(.failed(resetCause.map { .resetFailed(after: $0, cause: error) } ?? error))
        case .ready(let information):
            resetCause = nil
            _ = table.reset(packetSize: information.aclBufferSize, capacity: information.aclBufferCount)
            logger.info("controller ready", metadata: ["address": "\(information.publicAddress ?? .none)"])
            settle(.ready(information))
        }
    }

    private func ask<C: HCICommand>(_ command: C) {
        let generation = generation
        issue(command) { [weak self] result in
            guard let self, self.generation == generation else { return }
            isResetting = false
            perform(bringUp.handle(result.map { $0 as any HCIResponse }))
        }
    }

    private func settle(_ newState: State) {
        if case .failed(let error) = newState {
            logger.error("\(error)", metadata: ["layer": "\(error.layer.rawValue)"])
            giveUp(error, reason: .hardwareFailure, state: newState)
        } else {
            state = newState
        }
        // A callback may have started the host anew meanwhile.
        if state == newState { onStateChange?(newState) }
    }

    /// Fails all commands and ends all connections.
    private func giveUp(_ error: HCIHostError, reason: HCIStatus, state newState: State) {
        generation += 1
        state = newState
        cancelTimer()
        let waiting = queue.removeAll().compactMap { completions.removeValue(forKey: $0) }
        let gone = table.reset(packetSize: 0, capacity: 0)
        for completion in waiting { completion(.failure(.host(error))) }
        for connection in gone { onDisconnection?(connection, reason) }
    }

    /// The controller does not do what it should: reset it, unless that is what it does not do, or is done too often.
    private func controllerFailed(_ error: HCIHostError) {
        guard state.isRunning else { return }
        if isResetting { return settle(.failed(resetCause.map { .resetFailed(after: $0, cause: error) } ?? error)) }
        let now = loop.now
        resets.removeAll { now - $0 > Self.resetWindow }
        guard resets.count < Self.maximumResets else { return settle(.failed(.resetTooOften(cause: error))) }
        resets.append(now)
        table.counters.resets += 1
        logger.warning("\(error); resetting it")
        giveUp(error, reason: .hardwareFailure, state: .starting)
        // A callback may have stopped or restarted the host meanwhile.
        guard state == .starting, !isResetting else { return }
        resetCause = error
        beginBringUp()
    }

    private func transportClosed(_ error: HCITransportError) {
        transportError = error
        if state.isRunning { settle(.failed(.transport(error))) }
    }

    // MARK: Commands

    /// Sends a command, or queues it until the controller takes it.
    ///
    /// `completion` is called once, on the loop: with the return parameters when the controller did what it was told, or,
    /// for a command that Command Status answers, when it has begun to.
    public func send<C: HCICommand>(
        _ command: C,
        _ completion: @escaping (Result<C.Response, HCICommandError>) -> Void = { _ in }
    ) {
        guard case .ready = state else {
            let error: HCIHostError = if case .failed(let error) = state { error } else { .notRunning }
            return loop.execute { completion(.failure(.host(error))) }
        }
        table.note(command)
        issue(command, completion)
    }

    private func issue<C: HCICommand>(
        _ command: C,
        _ completion: @escaping (Result<C.Response, HCICommandError>) -> Void
    ) {
        let number = nextNumber
        nextNumber += 1
        completions[number] = { completion($0.flatMap { C.result(of: $0) }) }
        let entry = CommandQueue.Entry(number: number, opcode: C.opcode, packet: HCIPacket(command))
        perform(queue.handle(.add(entry, isAnsweredByStatus: C.isAnsweredByStatus)))
    }

    private func perform(_ actions: [CommandQueue.Action]) {
        let generation = generation
        for action in actions where self.generation == generation {
            switch action {
            case .send(let packet): transport.send(packet)
            case .finish(let number, let answer): completions.removeValue(forKey: number)?(.success(answer))
            case .refuse(let number):
                guard let completion = completions.removeValue(forKey: number) else { continue }
                loop.execute { completion(.failure(.queueFull)) }
            case .setTimer(let duration): setTimer(duration)
            case .clearTimer: cancelTimer()
            case .fail(let error): controllerFailed(error)
            case .ignored(let opcode):
                table.counters.unexpectedAnswers += 1
                logger.warning("answer to a command that is not under way", metadata: ["opcode": "\(opcode)"])
            }
        }
    }

    private func setTimer(_ duration: Duration) {
        cancelTimer()
        timer = loop.schedule(after: duration) { [weak self] in
            guard let self else { return }
            timer = nil
            perform(queue.handle(.timeout))
        }
    }

    private func cancelTimer() {
        if let timer { loop.cancel(timer) }
        timer = nil
    }

    // MARK: Events and data

    /// Calls `handler` with each event of a type, after the host itself has taken note of it. Events that the host does
    /// not believe are left out.
    public func onEvent<E: HCIEvent>(_ type: E.Type, _ handler: @escaping (E) -> Void) {
        subscriptions.add(type, handler)
    }

    private func receive(_ packet: HCIPacket) {
        guard state.isRunning else { return }
        do throws(PacketError) {
            switch packet.kind {
            case .event: try receiveEvent(packet.bytes)
            case .acl:
                if case .ready = state { try table.receive(packet.bytes) }
            case .synchronous, .isochronous: break
            case .command: throw PacketError(.value(UInt64(packet.kind.rawValue)), at: "packet type")
            }
        } catch {
            table.counters.malformed += 1
            logger.warning("\(error)", metadata: ["packet": "\(packet.kind) \(packet.bytes.prefix(upTo: 16))"])
        }
    }

    private func receiveEvent(_ bytes: PacketBuffer) throws(PacketError) {
        let packet = try EventPacket(reading: bytes)
        switch packet.code {
        case NumberOfCompletedPackets.eventCode:
            if case .ready = state { try table.completedPackets(packet.parameters) }
        case CommandComplete.eventCode:
            perform(queue.handle(.complete(try .reading(packet.parameters))))
        case CommandStatus.eventCode:
            perform(queue.handle(.status(try .reading(packet.parameters))))
        case HardwareError.eventCode:
            let event = try HardwareError.reading(packet.parameters)
            // While it is being reset, it may still speak of what made the reset necessary.
            if !isResetting { controllerFailed(.hardwareError(event.code)) }
        default:
            if case .ready = state { try receiveLinkEvent(packet) }
        }
    }

    private func receiveLinkEvent(_ packet: EventPacket) throws(PacketError) {
        let generation = generation
        switch try table.handle(packet) {
        case .rejected:
            logger.warning("event not believed", metadata: ["event": "\(packet.code) \(packet.parameters)"])
            return
        case .noted: answerForNobody(packet)
        case .connected(let connection, let early):
            onConnection?(connection)
            for packet in early where connection.isOpen { connection.receive(packet) }
        case .connectionFailed(let status): onConnectionFailed?(status)
        case .disconnected(let connection, let reason): onDisconnection?(connection, reason)
        }
        if self.generation == generation { try subscriptions.deliver(packet) }
    }

    /// Answers a request that nobody subscribed to, so that the peer does not wait until it gives the link up.
    private func answerForNobody(_ packet: EventPacket) {
        guard let subevent = packet.subevent, !subscriptions.contains(packet.code, subevent) else { return }
        switch subevent {
        case LELongTermKeyRequest.leSubevent:
            guard let event = try? LELongTermKeyRequest.reading(packet.eventParameters) else { return }
            send(LELongTermKeyRequestNegativeReply(handle: event.handle))
        case LERemoteConnectionParameterRequest.leSubevent:
            guard let event = try? LERemoteConnectionParameterRequest.reading(packet.eventParameters) else { return }
            send(
                LERemoteConnectionParameterRequestNegativeReply(
                    handle: event.handle,
                    reason: .unacceptableConnectionParameters
                )
            )
        default: break
        }
    }
}

extension HCIHost.State {
    /// Whether a controller is up or coming up.
    var isRunning: Bool {
        switch self {
        case .starting, .ready: true
        case .down, .failed: false
        }
    }
}

extension HCICommand {
    /// What an answer means to whoever sent the command.
    static func result(of answer: CommandQueue.Answer) -> Result<Response, HCICommandError> {
        switch answer {
        case .status(.success): return .success(Response())
        case .status(let status): return .failure(.refused(opcode, status))
        case .complete(let parameters):
            do throws(PacketError) {
                let response = try Response.reading(parameters)
                return response.status == .success ? .success(response) : .failure(.refused(opcode, response.status))
            } catch {
                return .failure(.malformedResponse(opcode, error))
            }
        }
    }
}
