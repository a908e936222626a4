import Foundation
import Synchronization

/// The signals of a shell. At a terminal, SIGINT ends the running command. Otherwise it ends the shell, as SIGTERM
/// does.
final class ShellInterrupts: Sendable {
    private struct State {
        /// Ends the running command.
        var abort: AsyncStream<ToolError>.Continuation?
        /// Why the shell ends.
        var end: ToolError?
        /// The error of a controller that has never worked.
        var failure: ToolError?
    }

    private let isInteractive: Bool
    private let state = Mutex(State())

    init(isInteractive: Bool) {
        self.isInteractive = isInteractive
    }

    /// The signal that ends the shell; nil if there was none.
    var end: ToolError? { state.withLock { $0.end } }

    /// Handles signals from now on.
    ///
    /// - Parameters:
    ///   - endLine: Called for SIGINT at a terminal, which has shown `^C`.
    ///   - redraw: Called afterwards if the user edits a line.
    ///   - leave: Called when the shell has to end while it waits for a line.
    func begin(
        endLine: @escaping @Sendable () -> Void,
        redraw: @escaping @Sendable () -> Void,
        leave: @escaping @Sendable (ToolError) -> Void
    ) {
        for number in Interrupts.ends {
            Interrupts.on(number) { [self] in
                let error = ToolError.interrupted(number)
                if isInteractive, number == SIGINT {
                    endLine()
                    if interrupt(error) { redraw() }
                } else if end(by: error) {
                    leave(error)
                }
            }
        }
    }

    /// Ends the running command. Returns whether there is none.
    private func interrupt(_ error: ToolError) -> Bool {
        state.withLock { state in
            state.abort?.yield(error)
            return state.abort == nil
        }
    }

    /// Ends the running command and the shell. A second signal ends the program at once.
    ///
    /// - Returns: Whether no command runs.
    private func end(by error: ToolError) -> Bool {
        state.withLock { state in
            if state.end != nil { exit(error.exitStatus) }
            state.end = error
            state.abort?.yield(error)
            return state.abort == nil
        }
    }

    /// Ends the running command, or the next one, because the controller is unusable. One whose capture is over still
    /// answers the next one.
    func fail(_ error: ToolError) {
        state.withLock { state in
            if case .captureOver = error {} else { state.failure = error }
            state.abort?.yield(error)
        }
    }

    /// Ends the running command because the controller has failed. Later commands work once it is back.
    func lost(_ error: ToolError) {
        state.withLock { _ = $0.abort?.yield(error) }
    }

    /// Called when a command begins, with what ends it. Returns why it may not begin; nil if it may.
    func beginCommand(_ abort: AsyncStream<ToolError>.Continuation) -> ToolError? {
        state.withLock { state in
            if state.end == nil, state.failure == nil { state.abort = abort }
            return state.end ?? state.failure
        }
    }

    func endCommand() {
        state.withLock { $0.abort = nil }
    }
}
