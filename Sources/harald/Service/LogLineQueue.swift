import Dispatch
import Foundation
import Synchronization

/// Lines that wait to be written by a thread of their own: whoever logs waits neither for a terminal that is stopped nor for a pipe that nobody
/// reads. Lines without room are dropped, and counted in the place where they would be; errors have room of their own (AB-G05).
final class LogLineQueue: Sendable {
    /// Lines that wait, besides errors.
    static let maximumLines = 256
    /// Errors that wait.
    static let maximumErrors = 256

    private struct Waiting {
        var lines: [(text: String, isError: Bool)] = []
        var lost = 0
        var finishers: [DispatchSemaphore] = []
    }

    private let waiting = Mutex(Waiting())
    private let isThereMore = DispatchSemaphore(value: 0)

    /// - Parameter write: Writes a line, and may take long.
    init(write: @escaping @Sendable (String) -> Void) {
        let queue = self
        Thread.detachNewThread {
            while true {
                queue.isThereMore.wait()
                queue.writeWaiting(write)
            }
        }
    }

    /// Adds a line. Never waits.
    func add(_ text: String, isError: Bool) {
        waiting.withLock { waiting in
            let alike = waiting.lines.count { $0.isError == isError }
            guard alike < (isError ? Self.maximumErrors : Self.maximumLines) else { return waiting.lost += 1 }
            waiting.lines.append((text, isError))
        }
        isThereMore.signal()
    }

    /// Waits until what was added is written, or so many seconds.
    func finish(within seconds: Double) {
        let done = DispatchSemaphore(value: 0)
        waiting.withLock { $0.finishers.append(done) }
        isThereMore.signal()
        _ = done.wait(timeout: .now() + seconds)
    }

    private func writeWaiting(_ write: (String) -> Void) {
        let taken = waiting.withLock { waiting in
            defer { waiting = Waiting() }
            return waiting
        }
        for line in taken.lines { write(line.text) }
        if taken.lost > 0 { write("harald: \(taken.lost) lines of the log were lost: nobody took them in time") }
        for finisher in taken.finishers { finisher.signal() }
    }
}
