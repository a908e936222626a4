import Synchronization

extension EventLoop {
    /// Runs `body` on the loop, after everything submitted before, and returns its result. From any thread. Inside a
    /// task of the loop, `body` runs at once.
    ///
    /// - Precondition: The loop has not been shut down.
    package func waitFor<Value: Sendable>(_ body: @escaping @Sendable () -> Value) -> Value {
        if isRunningHere { return body() }
        let box = Box<Value>()
        submitAndWait { box.value.withLock { $0 = body() } }
        guard let value = box.value.withLock({ $0 }) else {
            preconditionFailure("the loop was shut down while objects on it were in use")
        }
        return value
    }

    package func make<Value>(_ body: @escaping @Sendable () -> Value) -> LoopBound<Value> {
        waitFor { LoopBound(body(), loop: self) }
    }
}

extension LoopBound {
    /// Runs `body` with the value on the loop and returns its result. From any thread.
    @discardableResult
    package func with<Result: Sendable>(_ body: @escaping @Sendable (Value) -> Result) -> Result {
        loop.waitFor { body(self.value) }
    }
}

/// Carries a result from the loop's thread to the waiting thread.
private final class Box<Value: Sendable>: Sendable {
    let value = Mutex<Value?>(nil)
}
