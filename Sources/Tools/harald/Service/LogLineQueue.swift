import Dispatch
import Foundation
import Synchronization

/// A queue of log lines that a separate thread writes, so that logging never blocks on a stopped terminal or an unread
/// pipe.
///
/// When the queue is full, lines are dropped and counted, and the count is written in their place. Errors have space of
/// their own (AB-G05).
final class LogLineQueue: Sendable {
    /// The maximum number of queued lines, besides errors.
    static let maximumLines = 256
    static let maximumErrors = 256

    private struct Waiting {
        var lines: [(text: String, isError: Bool)] = []
        var lost = 0
        var finishers: [DispatchSemaphore] = []
    }

    private let waiting = Mutex(Waiting())
    private let hasMoreLines = DispatchSemaphore(value: 0)

    /// - Parameter write: Writes a line. May block.
    init(write: @escaping @Sendable (String) -> Void) {
        let queue = self
        Thread.detachNewThread {
            while true {
                queue.hasMoreLines.wait()
                queue.writeWaiting(write)
            }
        }
    }

    /// Adds a line. Never blocks.
    func add(_ text: String, isError: Bool) {
        waiting.withLock { waiting in
            let alike = waiting.lines.count { $0.isError == isError }
            guard alike < (isError ? Self.maximumErrors : Self.maximumLines) else { return waiting.lost += 1 }
            waiting.lines.append((text, isError))
        }
        hasMoreLines.signal()
    }

    /// Waits until all queued lines are written, at most `seconds`.
    func finish(within seconds: Double) {
        let done = DispatchSemaphore(value: 0)
        waiting.withLock { $0.finishers.append(done) }
        hasMoreLines.signal()
        _ = done.wait(timeout: .now() + seconds)
    }

    private func writeWaiting(_ write: (String) -> Void) {
        let taken = waiting.withLock { waiting in
            defer { waiting = Waiting() }
            return waiting
        }
        for line in taken.lines { write(line.text) }
        if taken.lost > 0 {
            write("harald: \(taken.lost) log lines were lost because standard error was not read in time")
        }
        for finisher in taken.finishers { finisher.signal() }
    }
}
