import Foundation

/// A lock with what it protects. Copies are the same lock.
public struct OSAllocatedUnfairLock<State>: @unchecked Sendable {
    // Safe: the state is touched under the lock alone.
    private final class Contents {
        let lock = NSLock()
        var state: State

        init(_ state: State) { self.state = state }
    }

    private let contents: Contents

    /// A lock for a state that other threads may hold too.
    public init(uncheckedState: State) {
        contents = Contents(uncheckedState)
    }

    /// Calls `body` with the lock held.
    public func withLockUnchecked<Result>(_ body: (inout State) throws -> Result) rethrows -> Result {
        contents.lock.lock()
        defer { contents.lock.unlock() }
        return try body(&contents.state)
    }

    /// Calls `body` with the lock held, unless somebody else holds it; then the result is nil.
    public func withLockIfAvailableUnchecked<Result>(_ body: (inout State) throws -> Result) rethrows -> Result? {
        guard contents.lock.try() else { return nil }
        defer { contents.lock.unlock() }
        return try body(&contents.state)
    }

    /// Calls `body` with the lock held.
    public func withLock<Result: Sendable>(_ body: @Sendable (inout State) throws -> Result) rethrows -> Result {
        try withLockUnchecked(body)
    }

    /// Calls `body` with the lock held, unless somebody else holds it; then the result is nil.
    public func withLockIfAvailable<Result: Sendable>(
        _ body: @Sendable (inout State) throws -> Result
    ) rethrows -> Result? {
        try withLockIfAvailableUnchecked(body)
    }
}

extension OSAllocatedUnfairLock where State: Sendable {
    /// A lock for a state.
    public init(initialState: State) {
        self.init(uncheckedState: initialState)
    }
}

extension OSAllocatedUnfairLock where State == Void {
    /// A lock alone.
    public init() {
        self.init(uncheckedState: ())
    }

    /// Takes the lock, and waits for it.
    public func lock() { contents.lock.lock() }

    /// Takes the lock if nobody holds it; says whether it did.
    public func lockIfAvailable() -> Bool { contents.lock.try() }

    /// Gives the lock back, on the thread that has taken it.
    public func unlock() { contents.lock.unlock() }

    /// Calls `body` with the lock held.
    public func withLockUnchecked<Result>(_ body: () throws -> Result) rethrows -> Result {
        try withLockUnchecked { _ in try body() }
    }

    /// Calls `body` with the lock held.
    public func withLock<Result: Sendable>(_ body: @Sendable () throws -> Result) rethrows -> Result {
        try withLockUnchecked { _ in try body() }
    }

    /// Calls `body` with the lock held, unless somebody else holds it; then the result is nil.
    public func withLockIfAvailable<Result: Sendable>(_ body: @Sendable () throws -> Result) rethrows -> Result? {
        try withLockIfAvailableUnchecked { _ in try body() }
    }
}
