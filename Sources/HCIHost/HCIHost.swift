import BluetoothTypes
import EventLoops
import HCI

/// The host's half of HCI: brings a controller up, sends it commands, and runs the data paths of its connections.
///
/// Lives on the loop. A controller that stops answering, or reports that it has failed, is reset and brought up again:
/// its connections end, commands that wait fail, all with one error, and ``state`` goes through ``State/starting``. One
/// that does not come back leaves ``State/failed(_:)``; ``start()`` tries again.
package final class HCIHost {
    /// How far the host is.
    package enum State: Hashable, Sendable {
        /// Not started, or stopped.
        case down
        /// The controller is being brought up.
        case starting
        /// All works.
        case ready(ControllerInformation)
        /// The controller cannot be used.
        case failed(HCIHostError)
    }

    /// How often it is looked whether a line has opened. One that has not by then counts as open, and its controller as one that is silent.
    static let maximumOpeningLooks = 30
    /// How long each time.
    static let openingLook = Duration.seconds(1)
    /// Resets, each within ``resetWindow`` of the one before, after which a failing controller is given up.
    package static let maximumResets = 3
    /// How long a controller works before an earlier failure counts no more.
    package static let resetWindow = Duration.seconds(120)

    /// What a host can be told to do otherwise.
    package struct Configuration: Hashable, Sendable {
        /// What the controller is told that the host has room for, when it knows how to mind it; nil leaves its flow
        /// control off. This host takes every packet at once, so nothing is lost without; with it, a controller waits
        /// when packets lie unclaimed here. Turn it off for a controller that lists the commands and stalls on them.
        package var hostBuffers: HostBuffers? = HostBuffers()

        /// The usual.
        package init() {}
    }

    /// How far the host is.
    package private(set) var state = State.down {
        didSet { phase = Phase(state) }
    }
    /// The same without what it carries, which every packet asks for.
    private(set) var phase = Phase.idle
    /// Called after each change of ``state``.
    package var onStateChange: ((State) -> Void)?
    /// Called when a connection has been made, by either role.
    package var onConnection: ((HCIConnection) -> Void)?
    /// Called when a connection could not be made, or its making was cancelled.
    package var onConnectionFailed: ((HCIStatus) -> Void)?
    /// Called when no connection has come out of the train of an advertising set, or its making was cancelled.
    package var onTrainConnectionFailed: ((_ set: UInt8, HCIStatus) -> Void)?
    /// Called when a connection has ended. After a failure of the controller the reason is ``HCIStatus/hardwareFailure``,
    /// after ``stop()`` it is ``HCIStatus/localHostTerminated``.
    package var onDisconnection: ((HCIConnection, HCIStatus) -> Void)?

    private let transport: any HCITransport
    let loop: any EventLoop
    let happenings: HappeningSink
    let table: ConnectionTable
    var subscriptions = EventSubscriptions()
    var vendorHandlers: [(PacketBuffer) -> Void] = []

    var queue = CommandQueue()
    private var completions: [UInt64: (Result<CommandQueue.Answer, HCICommandError>) -> Void] = [:]
    private var nextNumber: UInt64 = 0
    private var timer: ScheduledTask?
    var linkWatch = LinkWatch()
    var watchTimer: (deadline: Instant, task: ScheduledTask)?
    var dataTimer: ScheduledTask?
    // Raised whenever all that is under way is given up, so that what is still on the stack notices.
    private(set) var generation = 0

    private var bringUp: BringUp
    private(set) var isResetting = false
    /// What the controller owes a host that has stopped, before the reset that silences it may be sent.
    private var leaving: CommandQueue?
    private var onSilent: (() -> Void)?
    /// Why the controller is being reset; nil when it is not, or comes up for the first time.
    package private(set) var resetCause: HCIHostError?
    private var resets: [Instant] = []
    private var transportError: HCITransportError?
    /// Called when the controller has been brought up once more.
    private var renewal: ((ControllerInformation) -> Void)?
    /// What is known of controllers.
    package let memory: ControllerMemory
    /// A fall-back that is being tried: whether it is any good is not known yet.
    package var trial: ControllerFallback?

    /// A host on one end of a line; it takes over the callbacks of `transport`.
    package init(
        transport: any HCITransport,
        loop: any EventLoop,
        happenings: HappeningSink,
        memory: ControllerMemory = ControllerMemory(),
        configuration: Configuration = Configuration()
    ) {
        self.memory = memory
        bringUp = BringUp(hostBuffers: configuration.hostBuffers)
        self.transport = transport
        self.loop = loop
        self.happenings = happenings
        table = ConnectionTable(loop: loop) { transport.send($0) }
        bringUp.fallbacks = { [weak self] in self?.fallbacks(of: $0) ?? [] }
        table.onData = { [weak self, loop] in self?.watchData(from: loop.now) }
        table.onProgress = { [weak self] in self?.watch(.progressed) }
        transport.onReceive = { [weak self] in self?.receive($0) }
        transport.onClose = { [weak self] in self?.transportClosed($0) }
        table.onUnproven = { [weak self] in
            self?.send(Disconnect(handle: $0.handle, reason: .authenticationFailure))
        }
    }

    /// What the host has refused to believe so far.
    package var counters: HCICounters { table.counters }

    /// The connections there are, in the order of their numbers.
    package var connections: [HCIConnection] {
        table.connections.values.sorted { $0.handle.rawValue < $1.handle.rawValue }
    }

    /// The connection with this number.
    package func connection(_ handle: ConnectionHandle) -> HCIConnection? {
        table.connections[handle.rawValue]
    }

    /// Buffers for data that are free in the controller, as far as the host knows.
    package var freeBuffers: Int { table.freeBuffers }

    // MARK: Start, stop, failure

    /// Brings the controller up: ``state`` ends in ready or failed. Nothing happens when that is done or under way.
    package func start() {
        switch state {
        case .starting, .ready: return
        case .down, .failed: break
        }
        if let transportError { return settle(.failed(.transport(transportError))) }
        resetCause = nil
        resets = []
        // The reset that begins it silences the controller too.
        left()
        beginBringUp()
    }

    /// Ends all connections and resets the controller, so that it is silent. The line stays open; whoever closes it does so
    /// ``whenSilent(_:)``.
    package func stop() {
        guard state != .down else { return }
        let (isRunning, owed) = (phase != .idle, queue.withoutWaiting)
        giveUp(.notRunning, reason: .localHostTerminated, state: .down)
        guard state == .down else { return }
        if isRunning { owed.isOwed ? leave(owed) : transport.send(HCIPacket(Reset())) }
        onStateChange?(.down)
    }

    private func beginBringUp() {
        isResetting = true
        state = .starting
        perform(bringUp.begin(at: transport.place))
        if state == .starting { onStateChange?(.starting) }
    }

    private func perform(_ action: BringUp.Action) {
        switch action {
        case .send(let command): ask(command)
        case .fail(let error): settle(.failed(resetCause.map { .resetFailed(after: $0, cause: error) } ?? error))
        case .ready(var information):
            information.aclBufferSize = min(information.aclBufferSize, transport.maximumACLPayload ?? .max)
            information.take(fallbacks(of: information))
            resetCause = nil
            _ = table.reset(
                packetSize: information.aclBufferSize,
                capacity: information.aclBufferCount,
                hostBuffers: information.hostBuffers
            )
            happenings.tell(HostHappening.ready(information))
            finishBringUp(information)
        }
    }

    private func finishBringUp(_ information: ControllerInformation) {
        guard let renewed = renewal else { return settle(.ready(information)) }
        renewal = nil
        state = .ready(information)
        renewed(information)
    }

    /// Resets the controller and brings it up again without a word to anybody but `completion`: what it is driven with is
    /// changed (Core Vol 4 Part E 3.1.1). Those above let the radio rest meanwhile. False, and nothing happens, while there are
    /// links, which would be lost.
    package func renew(_ completion: @escaping (ControllerInformation) -> Void) -> Bool {
        guard phase == .ready, renewal == nil, table.connections.isEmpty else { return false }
        renewal = completion
        isResetting = true
        perform(bringUp.begin(at: transport.place))
        return true
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
            happenings.tell(HostHappening.failed(error))
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
        renewal = nil
        cancelTimer()
        endWatching()
        let waiting = queue.removeAll().compactMap { completions.removeValue(forKey: $0) }
        let gone = table.reset(packetSize: 0, capacity: 0)
        for completion in waiting { completion(.failure(.host(error))) }
        for connection in gone { onDisconnection?(connection, reason) }
    }

    /// The controller does not do what it should: reset it, unless that is what it does not do, or is done too often.
    func controllerFailed(_ error: HCIHostError) {
        guard phase != .idle else { return }
        noteHang(error)
        if isResetting { return settle(.failed(resetCause.map { .resetFailed(after: $0, cause: error) } ?? error)) }
        let now = loop.now
        if let last = resets.last, now - last > Self.resetWindow { resets = [] }
        guard resets.count < Self.maximumResets else { return settle(.failed(.resetTooOften(cause: error))) }
        resets.append(now)
        table.counters.resets += 1
        happenings.tell(HostHappening.reset(cause: error))
        giveUp(error, reason: .hardwareFailure, state: .starting)
        // A callback may have stopped or restarted the host meanwhile.
        guard state == .starting, !isResetting else { return }
        resetCause = error
        beginBringUp()
    }

    private func transportClosed(_ error: HCITransportError) {
        transportError = error
        left()
        if phase != .idle { settle(.failed(.transport(error))) }
    }

    // MARK: Commands

    /// Sends a command, or queues it until the controller takes it.
    ///
    /// `completion` is called once, on the loop: with the return parameters when the controller did what it was told, or,
    /// for a command that Command Status answers, when it has begun to.
    package func send<C: HCICommand>(
        _ command: C,
        _ completion: @escaping (Result<C.Response, HCICommandError>) -> Void = { _ in }
    ) {
        guard phase == .ready else {
            let error: HCIHostError = if case .failed(let error) = state { error } else { .notRunning }
            return loop.execute { completion(.failure(.host(error))) }
        }
        if C.isUnanswered {
            transport.send(HCIPacket(command))
            return loop.execute { completion(.success(C.Response())) }
        }
        table.note(command)
        issue(command) { [weak self] result in
            switch result {
            case .failure: self?.table.noteRefusal(of: command)
            case .success: self?.noteTaken(command)
            }
            completion(result)
        }
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

    func perform(_ actions: [CommandQueue.Action]) {
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
                if opcode.isVendorSpecific {
                    table.counters.vendorEvents += 1
                    continue
                }
                table.counters.unexpectedAnswers += 1
                happenings.tell(HostHappening.unexpectedAnswer(opcode))
            }
        }
    }

    private func setTimer(_ duration: Duration) {
        cancelTimer()
        startTimer(duration, looksLeft: Self.maximumOpeningLooks)
    }

    /// The time that a controller has for its answer begins when the line is open: before that a driver may load its firmware.
    private func startTimer(_ duration: Duration, looksLeft: Int) {
        let isOpening = transport.isOpening && looksLeft > 0
        timer = loop.schedule(after: isOpening ? Self.openingLook : duration) { [weak self] in
            guard let self else { return }
            timer = nil
            if isOpening { return startTimer(duration, looksLeft: looksLeft - 1) }
            perform(queue.handle(.timeout))
        }
    }

    private func cancelTimer() {
        if let timer { loop.cancel(timer) }
        timer = nil
    }
}

// MARK: Leaving

extension HCIHost {
    /// Waits until the controller takes the last reset, ``CommandQueue/answerTimeout`` at most (Core Vol 4 Part E 4.4).
    private func leave(_ owed: CommandQueue) {
        leaving = owed
        timer = loop.schedule(after: CommandQueue.answerTimeout) { [weak self] in
            self?.timer = nil
            self?.resetAndLeave()
        }
    }

    /// Calls `completion` when the last reset of a host that has stopped has been sent, and at once when it has been, or there is none.
    package func whenSilent(_ completion: @escaping () -> Void) {
        guard leaving != nil else { return completion() }
        let earlier = onSilent
        onSilent = {
            earlier?()
            completion()
        }
    }

    /// Takes an answer that the controller owed.
    func receiveWhileLeaving(_ packet: HCIPacket) {
        guard leaving != nil, packet.kind == .event, let event = try? EventPacket(reading: packet.bytes) else { return }
        switch event.code {
        case CommandComplete.eventCode:
            if let event = try? CommandComplete.reading(event.parameters) { _ = leaving?.handle(.complete(event)) }
        case CommandStatus.eventCode:
            if let event = try? CommandStatus.reading(event.parameters) { _ = leaving?.handle(.status(event)) }
        default: return
        }
        if leaving?.isOwed == false { resetAndLeave() }
    }

    private func resetAndLeave() {
        transport.send(HCIPacket(Reset()))
        left()
    }

    private func left() {
        guard leaving != nil else { return }
        let completion = onSilent
        (leaving, onSilent) = (nil, nil)
        cancelTimer()
        completion?()
    }
}

extension HCIHost {
    /// What becomes of what the controller sends.
    enum Phase {
        /// Nothing: there is no controller to listen to.
        case idle
        /// A controller is coming up.
        case starting
        /// All is taken.
        case ready

        init(_ state: State) {
            switch state {
            case .down, .failed: self = .idle
            case .starting: self = .starting
            case .ready: self = .ready
            }
        }
    }
}

extension HCICommand {
    /// What an answer means to whoever sent the command.
    static func result(of answer: CommandQueue.Answer) -> Result<Response, HCICommandError> {
        switch answer {
        case .status(.success): return .success(Response())
        case .status(let status): return .failure(.refused(opcode, status))
        case .complete(var parameters):
            if Response.self is any BitmapResponse.Type, parameters.first == 0 {
                parameters = parameters.withZerosBehind
            }
            do throws(PacketError) {
                let response = try Response.reading(parameters)
                return response.status == .success ? .success(response) : .failure(.refused(opcode, response.status))
            } catch {
                return .failure(.malformedResponse(opcode, error))
            }
        }
    }
}
