import Dispatch
import Synchronization

/// A callback that a loop waits for: until it has returned, or until it is clear that nobody will call it. What is given to the queue
/// holds it, so that a queue that lets go of what waits there has said so.
final class AwaitedCallback: Sendable {
    /// How far it has come.
    final class Progress: Sendable {
        private enum State: Equatable {
            case waiting
            case running(ThreadIdentity)
            case over
        }

        private let state = Mutex(State.waiting)

        /// Whether it has returned, or does not count any more.
        var isOver: Bool { state.withLock { $0 == .over } }

        /// Stops counting it, unless it runs. Whenever it comes, nobody waits for it.
        func abandon() { state.withLock { if $0 == .waiting { $0 = .over } } }

        /// Whether the callback runs, and on the calling thread.
        var isHere: Bool { state.withLock { $0 == .running(.current) } }

        fileprivate func begin() { state.withLock { if $0 == .waiting { $0 = .running(.current) } } }

        /// Says whether it was not over before.
        fileprivate func end() -> Bool {
            state.withLock { state in
                defer { state = .over }
                return state != .over
            }
        }
    }

    let progress = Progress()
    private let body: Mutex<(@Sendable () -> Void)?>
    private let wake: DispatchSemaphore

    /// - Parameter wake: Signalled when it is over.
    init(_ body: @escaping @Sendable () -> Void, wake: DispatchSemaphore) {
        self.body = Mutex(body)
        self.wake = wake
    }

    deinit { end() }

    /// Runs the callback. Releases what it captured before the loop goes on, so that no deinitializer of the app runs beside the loop.
    func run() {
        progress.begin()
        runBody()
        end()
    }

    private func runBody() {
        let body = body.withLock { body in
            defer { body = nil }
            return body
        }
        body?()
    }

    private func end() {
        if progress.end() { wake.signal() }
    }
}
