import Synchronization

/// A call that waits. It ends once: by its result, which may come before it waits, or by cancellation.
final class PendingCall<Value: Sendable>: Sendable {
    private enum State {
        case begun
        case waiting(CheckedContinuation<Value, any Error>)
        case settled(Result<Value, any Error>)
        case over
    }

    /// The state, and whether its result is certain so that cancellation comes too late.
    private let state = Mutex<(now: State, isClaimed: Bool)>((.begun, false))

    /// Says that the result will be settled whatever comes.
    ///
    /// - Returns: False when the call is over.
    func claim() -> Bool {
        state.withLock {
            switch $0.now {
            case .begun, .waiting:
                $0.isClaimed = true
                return true
            case .settled, .over: return false
            }
        }
    }

    /// Whether nobody waits for the result any more.
    var isOver: Bool {
        state.withLock {
            switch $0.now {
            case .begun, .waiting: false
            case .settled, .over: true
            }
        }
    }

    /// Ends the call.
    ///
    /// - Returns: False when it was over.
    @discardableResult
    func settle(_ result: Result<Value, any Error>) -> Bool {
        let (continuation, isFirst): (CheckedContinuation<Value, any Error>?, Bool) = state.withLock {
            switch $0.now {
            case .begun:
                $0.now = .settled(result)
                return (nil, true)
            case .waiting(let continuation):
                $0.now = .over
                return (continuation, true)
            case .settled, .over: return (nil, false)
            }
        }
        continuation?.resume(with: result)
        return isFirst
    }

    /// Waits, once.
    func value() async throws -> Value {
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { wait($0) }
        } onCancel: {
            cancel()
        }
    }

    private func wait(_ continuation: CheckedContinuation<Value, any Error>) {
        let result: Result<Value, any Error>? = state.withLock {
            if case .settled(let result) = $0.now {
                $0.now = .over
                return result
            }
            $0.now = .waiting(continuation)
            return nil
        }
        if let result { continuation.resume(with: result) }
    }

    private func cancel() {
        guard !state.withLock({ $0.isClaimed }) else { return }
        settle(.failure(CancellationError()))
    }
}

extension PendingCall<Void> {
    /// Ends the call: well without an error.
    func settle(_ error: (any Error)?) { settle(error.map { .failure($0) } ?? .success(())) }
}
