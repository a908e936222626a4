import Dispatch
import Synchronization

/// A callback that the loop waits for, until it returns or can no longer be called.
///
/// The closure handed to the queue holds this object. A queue that drops its pending closures therefore ends the wait:
/// ``deinit`` signals `wake`.
final class AwaitedCallback: Sendable {
    /// The state of the callback.
    final class Progress: Sendable {
        private enum State: Equatable {
            case waiting
            case running(ThreadIdentity)
            case over
        }

        private let state = Mutex(State.waiting)

        var isOver: Bool { state.withLock { $0 == .over } }

        /// Stops waiting for the callback unless it is running. The queue may still run it later.
        func abandon() { state.withLock { if $0 == .waiting { $0 = .over } } }

        var isOnCallingThread: Bool { state.withLock { $0 == .running(.current) } }

        fileprivate func begin() { state.withLock { if $0 == .waiting { $0 = .running(.current) } } }

        /// Marks the callback as over. Returns whether it was not over before.
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

    /// - Parameter wake: Signalled once, when the callback is over.
    init(_ body: @escaping @Sendable () -> Void, wake: DispatchSemaphore) {
        self.body = Mutex(body)
        self.wake = wake
    }

    deinit { end() }

    /// Runs the callback and releases its captures before the loop continues, so that no deinitializer of the app runs
    /// concurrently with the loop.
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
