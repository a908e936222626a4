import CTool
import Dispatch
import Foundation
import Synchronization

enum Interrupts {
    /// SIGINT, SIGTERM, and SIGHUP unless it is ignored, as under nohup(1).
    static var ends: [Int32] {
        var action = sigaction()
        _ = sigaction(SIGHUP, nil, &action)
        // Safe: both are C functions, which are compared as addresses only.
        let handler = unsafeBitCast(action.__sigaction_handler.sa_handler, to: Int.self)
        let isIgnored = handler == unsafeBitCast(SIG_IGN, to: Int.self)
        return isIgnored ? [SIGINT, SIGTERM] : [SIGINT, SIGTERM, SIGHUP]
    }

    /// Calls `body` on SIGINT, SIGTERM or SIGHUP, with the error that the command has to end with once it has left its
    /// devices. A second signal ends the program at once.
    static func onEnd(_ body: @escaping @Sendable (ToolError) -> Void) {
        let isEnding = Atomic(false)
        for number in ends {
            on(number) {
                let error = ToolError.interrupted(number)
                if isEnding.exchange(true, ordering: .relaxed) { exit(error.exitStatus) }
                body(error)
            }
        }
    }

    /// Calls `handle` on `queue`, or on a queue of its own, for each signal from now on, until the program ends. Once for
    /// each signal. A program that has no descriptor left keeps what the signal would do.
    static func on(_ number: Int32, queue: DispatchQueue? = nil, _ handle: @escaping @Sendable () -> Void) {
        // A dispatch source of signals begins to watch later, and a signal before that would be lost. Not SIG_IGN, which
        // launched programs would inherit (execve(2)).
        let counter = harald_count_signals(number)
        guard counter >= 0 else { return }
        let source = DispatchSource.makeReadSource(
            fileDescriptor: counter,
            queue: queue ?? DispatchQueue(label: "harald.signal")
        )
        // The handler retains the source.
        source.setEventHandler {
            _ = source
            var count: UInt64 = 0
            guard read(counter, &count, MemoryLayout.size(ofValue: count)) > 0 else { return }
            for _ in 0..<count { handle() }
        }
        source.resume()
    }
}
