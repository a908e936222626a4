import EventLoops
import HCI

/// Runs the time-outs for the events and buffers that the controller owes the host for its connections (AB-H06).
final class LinkWatcher {
    /// Called with what is to be done. It may call ``stop()``.
    var onAction: ((LinkWatch.Action) -> Void)?
    private let table: ConnectionTable
    private let loop: any EventLoop
    private var machine = LinkWatch()
    private var check: (deadline: Instant, task: ScheduledTask)?
    private var dataTimer: ScheduledTask?
    // Incremented by `stop()`, so that callers still on the stack can detect it.
    private var generation = 0

    init(_ table: ConnectionTable, loop: any EventLoop) {
        self.table = table
        self.loop = loop
        table.onData = { [weak self, loop] in self?.watchData(from: loop.now) }
        table.onProgress = { [weak self] in self?.watch(.progressed) }
    }

    /// Starts the time-out that an accepted command entails.
    func noteAccepted(_ command: some HCICommand) {
        let now = loop.now
        table.noteAccepted(command)
        switch command {
        case is LECreateConnection, is LEExtendedCreateConnection, is LEExtendedCreateConnectionV2: watch(.connecting)
        case is LECreateConnectionCancel: watch(.cancelled(at: now))
        case let command as Disconnect:
            guard let link = table.connections[command.handle.rawValue] else { return }
            // The supervision timeout is in units of 10 ms.
            let timeout = Duration.milliseconds(10 * Int64(link.supervisionTimeout))
            watch(.ending(link.handle.rawValue, timeout: timeout, at: now))
        case let command as LEEnableEncryption: noteKey(for: command.handle)
        case let command as LELongTermKeyRequestReply: noteKey(for: command.handle)
        default: break
        }
    }

    private func noteKey(for handle: ConnectionHandle) {
        if table.connections[handle.rawValue] != nil { watch(.encrypting(handle.rawValue, at: loop.now)) }
    }

    /// Stops the time-outs that an event settles.
    func noteOutcome(_ outcome: ConnectionTable.Outcome) {
        switch outcome {
        case .connected(let connection, _):
            if connection.role == .central { watch(.connected) }
        case .connectionFailed: watch(.connected)
        case .disconnected(let connection, _):
            watch(.gone(connection.handle.rawValue))
            if table.leftData(connection, since: loop.now - LinkWatch.leftDataTimeout) { watch(.leftData) }
        case .encryption(let connection, _): watch(.encrypted(connection.handle.rawValue))
        case .noted, .rejected, .longTermKeyRequest, .authenticatedPayloadTimeout: break
        }
    }

    func stop() {
        generation += 1
        machine = LinkWatch()
        for timer in [check?.task, dataTimer].compactMap(\.self) { loop.cancel(timer) }
        (check, dataTimer) = (nil, nil)
    }

    private func watch(_ event: LinkWatch.Event) {
        let generation = generation
        for action in machine.handle(event) where self.generation == generation { onAction?(action) }
        guard self.generation == generation else { return }
        scheduleCheck()
        assert(brokenInvariant == nil, brokenInvariant ?? "")
    }

    /// The first broken invariant; nil if all hold. Checked in debug builds after each event.
    private var brokenInvariant: String? {
        guard machine.watched.allSatisfy({ table.connections[$0] != nil }) else {
            return "something is owed about a link that has ended"
        }
        guard let deadline = machine.deadline else { return nil }
        return check.map { $0.deadline <= deadline } == true
            ? nil : "nothing limits the time of what the controller owes"
    }

    /// Schedules the next check. The timer may fire early, when nothing is due; it never fires late.
    private func scheduleCheck() {
        guard let deadline = machine.deadline else { return }
        if let check {
            guard deadline < check.deadline else { return }
            loop.cancel(check.task)
        }
        let task = loop.schedule(at: deadline) { [weak self] in
            guard let self else { return }
            check = nil
            watch(.checked(at: loop.now))
        }
        check = (deadline, task)
    }

    // MARK: Data

    /// Checks the data in the controller for progress, for as long as there is any.
    private func watchData(from instant: Instant) {
        dataTimer = loop.schedule(at: instant + LinkWatch.dataTimeout) { [weak self] in
            self?.dataTimer = nil
            self?.checkQueuedData()
        }
    }

    private func checkQueuedData() {
        let (generation, now) = (generation, loop.now)
        for link in table.takeStalled(since: now - LinkWatch.dataTimeout) where self.generation == generation {
            watch(.stalled(link.handle.rawValue))
        }
        guard self.generation == generation else { return }
        if let oldest = table.oldestWait { watchData(from: oldest) } else { table.endWatch() }
    }
}
