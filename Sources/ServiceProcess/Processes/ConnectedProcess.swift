import BluetoothService

/// The process of an app that has connected. While the app is suspended the process runs on, unless a
/// ``Freezer`` has it: what it asks for waits, and what it is told.
/// On the loop.
final class ConnectedProcess: AppProcess {
    private unowned let app: App
    private let caller: Caller
    private let known: KnownProcess?
    /// The unit of systemd that it was launched as, if it was.
    private let unit: String?
    let mark: ProcessMark?
    private unowned let processes: AppProcesses
    private let dismiss: (ServiceError) -> Void

    /// - Parameter dismiss: Ends the conversation with it.
    init(
        _ app: App,
        _ caller: Caller,
        _ known: KnownProcess?,
        unit: String?,
        mark: ProcessMark?,
        processes: AppProcesses,
        dismiss: @escaping (ServiceError) -> Void
    ) {
        self.app = app
        self.caller = caller
        self.known = known
        self.unit = unit
        self.mark = mark
        self.processes = processes
        self.dismiss = dismiss
    }

    /// The number of the process; 0 for one that this process cannot see.
    var number: Int32 { caller.process }

    /// Whether it is gone, or the process that connects: then what it left of a conversation is over.
    func givesWay(to newcomer: Caller) -> Bool {
        if newcomer.process > 1, newcomer.process == caller.process { return true }
        return known.map { !processes.isThere($0) } ?? false
    }

    func suspend() {
        if let unit { processes.freezer?.freeze(unit) }
    }

    func resume() {
        if let unit { processes.freezer?.thaw(unit) }
    }

    func end() {
        guard case .notRunning(let end) = app.phase else { return }
        // One that is frozen does not end in good order.
        resume()
        // Of another kind than what passes: it shall not come back by itself.
        dismiss(ServiceError(.operationNotSupported, reason: "the app is \(app.phase.words)"))
        switch end {
        case .forceQuit, .removedFromMemory: processes.end(known, of: caller)
        case .crashed, .deviceRestarted: break
        }
    }
}
