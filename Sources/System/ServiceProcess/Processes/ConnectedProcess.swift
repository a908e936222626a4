import BluetoothService
import ServiceMessages

/// The process of an app that has connected. While the app is suspended, the process runs on unless a ``Freezer`` has
/// frozen it; its requests and events are held back. Used on the event loop.
final class ConnectedProcess: AppProcess {
    private unowned let app: App
    private let caller: Caller
    private let known: KnownProcess?
    /// The systemd unit in which it was launched; nil if it was not launched as one.
    private let unit: String?
    let mark: ProcessMark?
    private unowned let processes: AppProcesses
    private let dismiss: (ServiceError) -> Void

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

    /// The process number; 0 if it is not visible to this process.
    var number: Int32 { caller.process }

    /// Whether the process is gone, or is the one that connects. Its old conversation is then over.
    func givesWay(to newcomer: Caller) -> Bool {
        if newcomer.process > 1, newcomer.process == caller.process { return true }
        return known.map { !processes.exists($0) } ?? false
    }

    func suspend() {
        if let unit { processes.freezer?.freeze(unit) }
    }

    func resume() {
        if let unit { processes.freezer?.thaw(unit) }
    }

    func end() {
        guard case .notRunning(let end) = app.phase else { return }
        // A frozen process cannot handle SIGTERM.
        resume()
        // Not a temporary error, so that the app does not reconnect by itself.
        dismiss(ServiceError(.operationNotSupported, reason: "the app is \(app.phase.words)"))
        switch end {
        case .forceQuit, .removedFromMemory: processes.end(known, of: caller)
        case .crashed, .deviceRestarted: break
        }
    }
}
