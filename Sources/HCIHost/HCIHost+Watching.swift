import BluetoothTypes
import EventLoops
import HCI

// Time-outs for the events and buffers that the controller owes for its connections (AB-H06).

extension HCIHost {
    /// Starts the time-out that an accepted command entails.
    func noteTaken(_ command: some HCICommand) {
        let now = loop.now
        table.noteTaken(command)
        switch command {
        case is LECreateConnection, is LEExtendedCreateConnection, is LEExtendedCreateConnectionV2: watch(.connecting)
        case is LECreateConnectionCancel: watch(.cancelled(at: now))
        case let command as Disconnect:
            guard let link = connection(command.handle) else { return }
            // The supervision timeout is in units of 10 ms.
            let timeout = Duration.milliseconds(10 * Int64(link.supervisionTimeout))
            watch(.ending(link.handle.rawValue, timeout: timeout, at: now))
        case let command as LEEnableEncryption: noteKey(for: command.handle)
        case let command as LELongTermKeyRequestReply: noteKey(for: command.handle)
        default: break
        }
    }

    private func noteKey(for handle: ConnectionHandle) {
        if connection(handle) != nil { watch(.encrypting(handle.rawValue, at: loop.now)) }
    }

    /// Stops the time-outs that an event settles.
    func noteOutcome(_ outcome: ConnectionTable.Outcome) {
        switch outcome {
        case .connected(let connection, _):
            if connection.role == .central { watch(.connected) }
        // This event also reports the end of directed advertising (Core Vol 4 Part E 7.8.9).
        case .connectionFailed(let status):
            if status != .advertisingTimeout { watch(.connected) }
        case .trainConnectionFailed: watch(.connected)
        case .disconnected(let connection, _):
            watch(.gone(connection.handle.rawValue))
            if table.leftData(connection, since: loop.now - LinkWatch.leftDataTimeout) { watch(.leftData) }
        case .encryption(let connection, _): watch(.encrypted(connection.handle.rawValue))
        case .noted, .rejected, .longTermKeyRequest, .authenticatedPayloadTimeout: break
        }
    }

    /// Cancels the time-outs of all links.
    func endWatching() {
        linkWatch = LinkWatch()
        for timer in [watchTimer?.task, dataTimer].compactMap(\.self) { loop.cancel(timer) }
        (watchTimer, dataTimer) = (nil, nil)
    }

    func watch(_ event: LinkWatch.Event) {
        let generation = generation
        for action in linkWatch.handle(event) where self.generation == generation {
            switch action {
            case .fail(let error): controllerFailed(error)
            case .end(let handle, let stall):
                guard let link = table.connections[handle] else { continue }
                table.counters.stalledLinks += 1
                happenings.tell(HostHappening.linkStalled(link.handle, stall))
                send(Disconnect(handle: link.handle, reason: .remoteUserTerminated))
            }
        }
        guard self.generation == generation else { return }
        scheduleLook()
    }

    /// Schedules the next check. The timer may fire early, when nothing is due; it never fires late.
    private func scheduleLook() {
        guard let deadline = linkWatch.deadline else { return }
        if let watchTimer {
            guard deadline < watchTimer.deadline else { return }
            loop.cancel(watchTimer.task)
        }
        let task = loop.schedule(at: deadline) { [weak self] in
            guard let self else { return }
            watchTimer = nil
            watch(.looked(at: loop.now))
        }
        watchTimer = (deadline, task)
    }

    // MARK: Data

    /// Checks the data in the controller for progress, for as long as there is any.
    func watchData(from instant: Instant) {
        dataTimer = loop.schedule(at: instant + LinkWatch.dataTimeout) { [weak self] in
            self?.dataTimer = nil
            self?.lookAtData()
        }
    }

    private func lookAtData() {
        let (generation, now) = (generation, loop.now)
        for link in table.takeStalled(since: now - LinkWatch.dataTimeout) where self.generation == generation {
            watch(.stalled(link.handle.rawValue))
        }
        guard self.generation == generation else { return }
        if let oldest = table.oldestWait { watchData(from: oldest) } else { table.sender.isWatched = false }
    }
}
