import Synchronization

/// The outcome of an operation that one task waits for.
///
/// The first outcome counts, even if it arrives before the task waits. Cancellation is an outcome. All methods may be
/// called from any thread.
final class Wait<Value: Sendable>: Sendable {
    private enum State {
        case new
        case waiting(CheckedContinuation<Value, any Error>)
        case over(Result<Value, any Error>)
    }

    private struct Contents {
        var state = State.new
        var atEnd: [@Sendable () -> Void] = []
        /// Whether an outcome is certain, so that cancellation comes too late.
        var isClaimed = false
    }

    private let contents = Mutex(Contents())

    var isOver: Bool {
        contents.withLock { if case .over = $0.state { true } else { false } }
    }

    /// Announces that an outcome will be set in any case, so that the task can no longer be cancelled. Returns false if
    /// there is an outcome already.
    func claim() -> Bool {
        contents.withLock { contents in
            if case .over = contents.state { return false }
            contents.isClaimed = true
            return true
        }
    }

    /// Sets the outcome. Returns whether it is the one that counts.
    @discardableResult
    func end(_ result: Result<Value, any Error>) -> Bool {
        let before: Contents? = contents.withLock { contents in
            if case .over = contents.state { return nil }
            defer { contents = Contents(state: .over(result)) }
            return contents
        }
        guard let before else { return false }
        for body in before.atEnd { body() }
        if case .waiting(let continuation) = before.state { continuation.resume(with: result) }
        return true
    }

    /// Calls `body` when there is an outcome, at once if there already is.
    func atEnd(_ body: @escaping @Sendable () -> Void) {
        let isOver = contents.withLock { contents in
            if case .over = contents.state { return true }
            contents.atEnd.append(body)
            return false
        }
        if isOver { body() }
    }

    /// Waits for the outcome. `begin` is called once the task is waiting, and not at all if there is an outcome
    /// already.
    func value(_ begin: () -> Void = {}) async throws -> Value {
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                let outcome: Result<Value, any Error>? = contents.withLock {
                    if case .over(let result) = $0.state { return result }
                    $0.state = .waiting(continuation)
                    return nil
                }
                if let outcome { return continuation.resume(with: outcome) }
                begin()
            }
        } onCancel: {
            cancel()
        }
    }

    private func cancel() {
        guard !contents.withLock({ $0.isClaimed }) else { return }
        end(.failure(CancellationError()))
    }
}

extension Wait<Void> {
    /// Sets the outcome: success, if there is no error.
    func end(_ error: (any Error)?) { end(error.map { .failure($0) } ?? .success(())) }
}
