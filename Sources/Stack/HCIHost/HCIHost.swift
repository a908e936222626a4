import BluetoothTypes
import EventLoops
import HCI

/// The host side of HCI: initializes the controller, sends it commands, and runs the data paths of its connections.
///
/// Use it on the event loop only. When the controller stops answering or reports a failure, the host resets it and
/// initializes it again: all connections end, all pending commands fail with the same error, and ``state`` goes through
/// ``State/starting``. If the controller does not recover, ``state`` becomes ``State/failed(_:)``; ``start()`` tries
/// again.
package final class HCIHost {
    /// The life cycle of the host.
    package enum State: Hashable, Sendable {
        /// The host has not been started, or has been stopped.
        case down
        case starting
        case ready(ControllerInformation)
        /// The controller cannot be used; ``start()`` tries again.
        case failed(HCIHostError)
    }

    /// The maximum number of polls for the transport to open. After the last one the transport counts as open, and the
    /// answer time-out starts.
    static let maximumOpeningPolls = 30
    static let openingPollInterval = Duration.seconds(1)
    /// The number of resets, each within ``resetWindow`` of the previous one, after which the host gives up on a
    /// failing controller.
    package static let maximumResets = 3
    /// The time without a failure after which earlier resets no longer count.
    package static let resetWindow = Duration.seconds(120)

    /// The options of a host.
    package struct Configuration: Hashable, Sendable {
        /// The buffers that the host announces to a controller that supports host flow control; nil leaves flow control
        /// off.
        ///
        /// The host accepts every packet immediately, so no data is lost without flow control. With it, the controller
        /// waits while the host holds unclaimed packets. Set this to nil for a controller that lists the commands and
        /// stalls on them.
        package var hostBuffers: HostBuffers? = HostBuffers()

        package init() {}
    }

    package private(set) var state = State.down {
        didSet { phase = Phase(state) }
    }
    /// ``state`` without its associated values, which is checked for every packet.
    private var phase = Phase.idle
    /// Called after each change of ``state``.
    package var onStateChange: ((State) -> Void)?
    /// Called when a connection has been established, in either role.
    package var onConnection: ((HCIConnection) -> Void)?
    /// Called when a connection attempt has failed or was cancelled.
    package var onConnectionFailed: ((HCIStatus) -> Void)?
    /// Called when a connection has ended. The status is the reason: ``HCIStatus/hardwareFailure`` after a failure of
    /// the controller, ``HCIStatus/localHostTerminated`` after ``stop()``.
    package var onDisconnection: ((HCIConnection, HCIStatus) -> Void)?

    private let transport: any HCITransport
    private let loop: any EventLoop
    private let stackEvents: StackEventSink
    private let table: ConnectionTable
    private let watcher: LinkWatcher
    private var subscriptions = EventSubscriptions()

    private var queue = CommandQueue()
    private var completions: [UInt64: (Result<CommandQueue.Answer, HCICommandError>) -> Void] = [:]
    private var nextNumber: UInt64 = 0
    private var timer: ScheduledTask?
    // Incremented whenever all pending work is abandoned, so that callers still on the stack can detect it.
    private var generation = 0

    private var bringUp: BringUp
    private var startUp: StartUp?
    private var finalReset: FinalReset?
    /// The failure that caused the reset in progress; nil during a first start and when no reset is in progress.
    package private(set) var resetCause: HCIHostError?
    private var resets = ResetLimit()
    private var transportError: HCITransportError?
    /// The fallbacks recorded for known controllers.
    package let memory: ControllerMemory
    /// A fallback on trial, in addition to those in ``memory``. Its use is not proven yet.
    package private(set) var trial: ControllerFallback?

    /// Creates a host for the controller at the other end of `transport`, whose callbacks it replaces.
    package init(
        transport: any HCITransport,
        loop: any EventLoop,
        stackEvents: StackEventSink,
        memory: ControllerMemory = ControllerMemory(),
        configuration: Configuration = Configuration()
    ) {
        self.memory = memory
        bringUp = BringUp(hostBuffers: configuration.hostBuffers)
        self.transport = transport
        self.loop = loop
        self.stackEvents = stackEvents
        table = ConnectionTable(loop: loop) { transport.send($0) }
        watcher = LinkWatcher(table, loop: loop)
        bringUp.fallbacks = { [weak self] in self?.fallbacks(of: $0) ?? [] }
        watcher.onAction = { [weak self] in self?.perform($0) }
        transport.onReceive = { [weak self] in self?.receive($0) }
        transport.onClose = { [weak self] in self?.transportClosed($0) }
        table.onUnproven = { [weak self] in
            self?.send(Disconnect(handle: $0.handle, reason: .authenticationFailure))
        }
    }

    package var counters: HCICounters { table.counters }

    package var connections: [HCIConnection] {
        table.connections.values.sorted { $0.handle.rawValue < $1.handle.rawValue }
    }

    package func connection(_ handle: ConnectionHandle) -> HCIConnection? {
        table.connections[handle.rawValue]
    }

    /// The number of free ACL data buffers in the controller, by the host's count.
    package var freeBuffers: Int { table.freeBuffers }

    // MARK: Life cycle

    /// Initializes the controller; ``state`` ends in ready or failed. Does nothing if the host is starting or ready.
    package func start() {
        switch state {
        case .starting, .ready: return
        case .down, .failed: break
        }
        if let transportError { return settle(.failed(.transport(transportError))) }
        resetCause = nil
        resets = ResetLimit()
        // Initialization begins with a reset, which makes the final reset of ``stop()`` unnecessary.
        left()
        beginBringUp()
    }

    /// Ends all connections and resets the controller, so that it stops transmitting.
    ///
    /// The transport stays open. Its owner must not close it before ``whenSilent(_:)`` completes.
    package func stop() {
        guard state != .down else { return }
        let (isRunning, owed) = (phase != .idle, queue.withoutWaiting)
        giveUp(.notRunning, reason: .localHostTerminated, state: .down)
        guard state == .down else { return }
        if isRunning { owed.awaitsController ? leave(owed) : transport.send(HCIPacket(Reset())) }
        onStateChange?(.down)
    }

    private func beginBringUp() {
        startUp = StartUp()
        state = .starting
        perform(bringUp.begin(at: transport.place))
        if state == .starting { onStateChange?(.starting) }
    }

    /// Whether a reset of the controller has not been answered yet.
    private var isResetting: Bool { startUp?.isResetting == true }

    private func perform(_ action: BringUp.Action) {
        switch action {
        case .send(let command): ask(command)
        case .fail(let error): settle(.failed(resetCause.map { .resetFailed(after: $0, cause: error) } ?? error))
        case .ready(var information):
            if let limit = transport.maximumACLPayload { information.limitPackets(to: limit) }
            information.apply(fallbacks(of: information))
            resetCause = nil
            _ = table.reset(
                packetSize: information.aclBufferSize,
                capacity: information.aclBufferCount,
                hostBuffers: information.hostBuffers
            )
            stackEvents.report(HostEvent.ready(information))
            finishBringUp(information)
        }
    }

    private func finishBringUp(_ information: ControllerInformation) {
        let renewed = startUp?.renewed
        startUp = nil
        guard let renewed else { return settle(.ready(information)) }
        state = .ready(information)
        renewed(information)
    }

    /// Resets and initializes the controller without calling ``onStateChange``, because the host will use the
    /// controller differently (Core Vol 4 Part E 3.1.1).
    ///
    /// The layers above must suspend their use of the radio meanwhile.
    ///
    /// - Parameter completion: Called once the controller is ready again, after ``state`` has its new information;
    ///   never called if it fails.
    /// - Returns: False if nothing was done: the host is not ready, another renewal is in progress, or there are
    ///   connections, which the reset would drop.
    package func renew(_ completion: @escaping (ControllerInformation) -> Void) -> Bool {
        guard phase == .ready, startUp == nil, table.connections.isEmpty else { return false }
        startUp = StartUp(renewed: completion)
        perform(bringUp.begin(at: transport.place))
        return true
    }

    private func ask<C: HCICommand>(_ command: C) {
        let generation = generation
        issue(command) { [weak self] result in
            guard let self, self.generation == generation else { return }
            startUp?.isResetting = false
            perform(bringUp.handle(result.map { $0 as any HCIResponse }))
        }
    }

    private func settle(_ newState: State) {
        if case .failed(let error) = newState {
            stackEvents.report(HostEvent.failed(error))
            giveUp(error, reason: .hardwareFailure, state: newState)
        } else {
            state = newState
        }
        // A callback may have restarted the host.
        if state == newState { onStateChange?(newState) }
    }

    private func giveUp(_ error: HCIHostError, reason: HCIStatus, state newState: State) {
        generation += 1
        state = newState
        startUp = nil
        cancelTimer()
        watcher.stop()
        let waiting = queue.removeAll().compactMap { completions.removeValue(forKey: $0) }
        let gone = table.reset(packetSize: 0, capacity: 0)
        for completion in waiting { completion(.failure(.host(error))) }
        for connection in gone { onDisconnection?(connection, reason) }
    }

    /// Resets the controller after a failure. If it failed during a reset, or was reset too often, the host fails
    /// instead.
    private func controllerFailed(_ error: HCIHostError) {
        guard phase != .idle else { return }
        // Another reset is of no use.
        if error.isWithoutRoom { return settle(.failed(error)) }
        noteHang(error)
        if isResetting { return settle(.failed(resetCause.map { .resetFailed(after: $0, cause: error) } ?? error)) }
        let now = loop.now
        guard resets.admit(at: now) else { return settle(.failed(.resetTooOften(cause: error))) }
        table.count(\.resets)
        stackEvents.report(HostEvent.reset(cause: error))
        giveUp(error, reason: .hardwareFailure, state: .starting)
        // A callback may have stopped or restarted the host.
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

    /// Sends a command, or queues it until the controller can accept it.
    ///
    /// - Parameters:
    ///   - command: The command to send.
    ///   - completion: Called once, on the event loop, with the return parameters if the command succeeded. For a
    ///     command that Command Status answers, success means that the controller has begun to execute it.
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
            case .success: self?.watcher.noteAccepted(command)
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
                if opcode.isVendorSpecific {
                    table.count(\.vendorEvents)
                    continue
                }
                table.count(\.unexpectedAnswers)
                stackEvents.report(HostEvent.unexpectedAnswer(opcode))
            }
        }
    }

    private func perform(_ action: LinkWatch.Action) {
        switch action {
        case .fail(let error): controllerFailed(error)
        case .end(let handle, let stall):
            guard let link = table.connections[handle] else { return }
            table.count(\.stalledLinks)
            stackEvents.report(HostEvent.linkStalled(link.handle, stall))
            send(Disconnect(handle: link.handle, reason: .remoteUserTerminated))
        }
    }

    private func setTimer(_ duration: Duration) {
        cancelTimer()
        startTimer(duration, looksLeft: Self.maximumOpeningPolls)
    }

    /// Starts the answer timer once the transport is open. Until then the driver may still be loading firmware.
    private func startTimer(_ duration: Duration, looksLeft: Int) {
        let isOpening = transport.isOpening && looksLeft > 0
        timer = loop.schedule(after: isOpening ? Self.openingPollInterval : duration) { [weak self] in
            guard let self else { return }
            timer = nil
            if isOpening { return startTimer(duration, looksLeft: looksLeft - 1) }
            perform(queue.handle(.timeout))
        }
    }

    private func cancelTimer() {
        if let timer = timer.take() { loop.cancel(timer) }
    }

    // MARK: Shutdown

    /// Delays the final reset until the controller can accept a command, by at most ``CommandQueue/answerTimeout``
    /// (Core Vol 4 Part E 4.4).
    private func leave(_ owed: CommandQueue) {
        finalReset = FinalReset(owed: owed)
        timer = loop.schedule(after: CommandQueue.answerTimeout) { [weak self] in
            self?.timer = nil
            self?.resetAndLeave()
        }
    }

    /// Calls `completion` after the final reset of a stopped host has been sent; immediately if no reset is pending.
    package func whenSilent(_ completion: @escaping () -> Void) {
        guard finalReset != nil else { return completion() }
        finalReset?.add(completion)
    }

    /// Handles an answer that was still due when the host was stopped.
    private func receiveWhileLeaving(_ packet: HCIPacket) {
        finalReset?.receive(packet)
        if finalReset?.isDue == true { resetAndLeave() }
    }

    private func resetAndLeave() {
        transport.send(HCIPacket(Reset()))
        left()
    }

    private func left() {
        guard let completions = finalReset?.completions else { return }
        finalReset = nil
        cancelTimer()
        for completion in completions { completion() }
    }

    // MARK: Receiving

    /// Adds a handler for an event type, called on the event loop after the host itself has handled the event. Events
    /// that the host rejects are not delivered.
    package func onEvent<E: HCIEvent>(_ type: E.Type, _ handler: @escaping (E) -> Void) {
        subscriptions.add(type, handler)
    }

    /// The first broken invariant; nil if all hold. Checked in debug builds after each packet of the controller.
    private var brokenInvariant: String? {
        guard completions.count == queue.count else {
            return "\(queue.count) commands are pending, and \(completions.count) callers wait"
        }
        guard phase == .idle || queue.isTimed == (timer != nil) else {
            return queue.isTimed ? "nothing limits the time for an answer" : "a timer runs without a pending command"
        }
        guard phase == .ready || table.connections.isEmpty else { return "a connection without a controller" }
        return nil
    }

    private func receive(_ packet: HCIPacket) {
        defer { assert(brokenInvariant == nil, brokenInvariant ?? "") }
        guard phase != .idle else { return receiveWhileLeaving(packet) }
        do throws(PacketError) {
            switch packet.kind {
            case .event: try receiveEvent(packet.bytes)
            case .acl:
                if phase == .ready { try table.receive(packet.bytes) }
            case .synchronous, .isochronous: break
            case .command: throw PacketError(.value(UInt64(packet.kind.rawValue)), at: "packet type")
            }
        } catch {
            table.count(\.malformed)
            stackEvents.report(HostEvent.malformed(packet, error))
        }
    }

    private func receiveEvent(_ bytes: PacketBuffer) throws(PacketError) {
        let packet = try EventPacket(reading: bytes)
        switch packet.code {
        case NumberOfCompletedPackets.eventCode:
            if phase == .ready { try table.completedPackets(packet.parameters) }
        case CommandComplete.eventCode:
            try commandComplete(.reading(packet.parameters))
        case CommandStatus.eventCode:
            perform(queue.handle(.status(try .reading(packet.parameters))))
        case HardwareError.eventCode:
            let event = try HardwareError.reading(packet.parameters)
            // During a reset the controller may still report the failure that caused it.
            if !isResetting { controllerFailed(.hardwareError(event.code)) }
        case DataBufferOverflow.eventCode:
            let event = try DataBufferOverflow.reading(packet.parameters)
            table.count(\.bufferOverflows)
            stackEvents.report(HostEvent.bufferOverflow(linkKind: event.linkKind))
            _ = try subscriptions.deliver(packet)
        case .vendorSpecific:
            table.count(\.vendorEvents)
        default:
            if phase == .ready { try receiveLinkEvent(packet) }
        }
    }

    private func commandComplete(_ event: CommandComplete) throws(PacketError) {
        guard event.opcode == HostNumberOfCompletedPackets.opcode else {
            return perform(queue.handle(.complete(event)))
        }
        // The controller answers this command only on error, such as when the link ended at the same time (7.3.40). The
        // command credits in the answer count.
        table.count(\.refusedCredits)
        perform(queue.handle(.complete(CommandComplete(credits: event.credits, opcode: .none, parameters: []))))
    }

    private func receiveLinkEvent(_ packet: EventPacket) throws(PacketError) {
        let generation = generation
        // Data held for this event is released last, after all callbacks and subscribers have run.
        var proven: HCIConnection?
        defer { if let proven { table.release(proven) } }
        let outcome = try table.handle(packet)
        watcher.noteOutcome(outcome)
        switch outcome {
        case .rejected:
            stackEvents.report(HostEvent.implausible(packet))
            return
        case .noted: rejectUnclaimedRequest(packet)
        case .connected(let connection, let early):
            onConnection?(connection)
            for packet in early { table.deliver(packet, to: connection) }
        case .connectionFailed(let status): onConnectionFailed?(status)
        case .disconnected(let connection, let reason): onDisconnection?(connection, reason)
        case .encryption(let connection, let report):
            connection.onEncryption?(report)
            proven = connection
        case .longTermKeyRequest(let connection, let request): ask(connection, request)
        case .authenticatedPayloadTimeout(let connection): connection.onAuthenticatedPayloadTimeout?()
        }
        guard self.generation == generation, try !subscriptions.deliver(packet) else { return }
        if HCIEventRegistry.type(for: packet.code, subevent: packet.subevent) == nil {
            table.count(\.unknownEvents)
        }
    }

    /// Requests the long term key from the owner of a link. Sends a negative reply if the link has no owner.
    private func ask(_ connection: HCIConnection, _ request: LELongTermKeyRequest) {
        if let ask = connection.onLongTermKeyRequest { return ask(request) }
        guard !subscriptions.contains(LELongTermKeyRequest.self) else { return }
        send(LELongTermKeyRequestNegativeReply(handle: connection.handle))
    }

    /// Rejects a request without subscribers, so that the peer does not run into its time-out and drop the link.
    private func rejectUnclaimedRequest(_ packet: EventPacket) {
        switch packet.subevent {
        case LERemoteConnectionParameterRequest.subevent
        where !subscriptions.contains(LERemoteConnectionParameterRequest.self):
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

    // MARK: Fallbacks for controllers that do not do what they claim

    /// Puts a fallback on trial, from the next initialization on; nil returns to what the controller claims.
    package func tryOut(_ fallback: ControllerFallback?) {
        trial = fallback
    }

    /// Records a fallback as needed, and ends the trial.
    package func adopt(_ fallback: ControllerFallback, of controller: ControllerInformation) {
        trial = nil
        memory.note(fallback, of: controller)
    }

    /// Returns the recorded fallbacks of a controller, combined with the one on trial.
    private func fallbacks(of controller: ControllerInformation) -> Set<ControllerFallback> {
        var known = memory.fallbacks(of: controller)
        if let trial {
            known.insert(trial)
            if let opposite = trial.opposite { known.remove(opposite) }
        }
        return known
    }

    /// Counts an unanswered legacy or extended command. After the second one, which rules out chance, records the
    /// fallback to the other set of commands, if the controller supports it.
    private func noteHang(_ error: HCIHostError) {
        guard case .commandTimedOut(let opcode) = error, case .ready(let controller) = state,
            let wanted = controller.fallback(afterHangOf: opcode)
        else { return }
        trial = nil
        // A set of commands that has already failed is not tried again.
        guard memory.fallbacks(of: controller).isDisjoint(with: [.legacyCommands, .extendedCommands]) else { return }
        guard memory.noteHang(of: controller) else { return }
        memory.note(wanted, of: controller)
    }
}

extension HCIHost {
    /// How packets from the controller are handled.
    fileprivate enum Phase {
        /// Packets are dropped; only the answers still due after ``stop()`` are read.
        case idle
        /// The controller is being initialized: events are handled, data is dropped.
        case starting
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
