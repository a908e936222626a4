import BluetoothService

/// The process of an app that has connected. While the app is suspended the process runs on: what it asks for waits, and what it is told.
/// On the loop.
final class ConnectedProcess: AppProcess {
    private unowned let app: App
    private let caller: Caller
    private let known: KnownProcess?
    private unowned let processes: AppProcesses
    private let dismiss: (ServiceError) -> Void

    /// - Parameter dismiss: Ends the conversation with it.
    init(
        _ app: App,
        _ caller: Caller,
        _ known: KnownProcess?,
        processes: AppProcesses,
        dismiss: @escaping (ServiceError) -> Void
    ) {
        self.app = app
        self.caller = caller
        self.known = known
        self.processes = processes
        self.dismiss = dismiss
    }

    func suspend() {}

    func resume() {}

    func end() {
        guard case .notRunning(let end) = app.phase else { return }
        // Of another kind than what passes: it shall not come back by itself.
        dismiss(ServiceError(.operationNotSupported, reason: "the app is \(app.phase.words)"))
        switch end {
        case .forceQuit, .removedFromMemory: processes.end(known, of: caller)
        case .crashed, .deviceRestarted: break
        }
    }
}
