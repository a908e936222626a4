import Foundation

/// A lock and the state that it protects. Copies share the lock.
public struct OSAllocatedUnfairLock<State>: @unchecked Sendable {
    // Safe: the state is accessed only with the lock held.
    private final class Contents {
        let lock = NSLock()
        var state: State

        init(_ state: State) { self.state = state }
    }

    private let contents: Contents

    /// Creates a lock for a state that need not be `Sendable`.
    public init(uncheckedState: State) {
        contents = Contents(uncheckedState)
    }

    /// Calls `body` with the lock held.
    public func withLockUnchecked<Result>(_ body: (inout State) throws -> Result) rethrows -> Result {
        contents.lock.lock()
        defer { contents.lock.unlock() }
        return try body(&contents.state)
    }

    /// Calls `body` with the lock held, or returns nil if another thread holds it.
    public func withLockIfAvailableUnchecked<Result>(_ body: (inout State) throws -> Result) rethrows -> Result? {
        guard contents.lock.try() else { return nil }
        defer { contents.lock.unlock() }
        return try body(&contents.state)
    }

    /// Calls `body` with the lock held.
    public func withLock<Result: Sendable>(_ body: @Sendable (inout State) throws -> Result) rethrows -> Result {
        try withLockUnchecked(body)
    }

    /// Calls `body` with the lock held, or returns nil if another thread holds it.
    public func withLockIfAvailable<Result: Sendable>(
        _ body: @Sendable (inout State) throws -> Result
    ) rethrows -> Result? {
        try withLockIfAvailableUnchecked(body)
    }
}

extension OSAllocatedUnfairLock where State: Sendable {
    /// Creates a lock for a state.
    public init(initialState: State) {
        self.init(uncheckedState: initialState)
    }
}

extension OSAllocatedUnfairLock where State == Void {
    /// Creates a lock without a state.
    public init() {
        self.init(uncheckedState: ())
    }

    /// Acquires the lock, waiting until it is available.
    public func lock() { contents.lock.lock() }

    /// Acquires the lock if it is available. Returns whether it did.
    public func lockIfAvailable() -> Bool { contents.lock.try() }

    /// Releases the lock. Call it on the thread that has acquired it.
    public func unlock() { contents.lock.unlock() }

    /// Calls `body` with the lock held.
    public func withLockUnchecked<Result>(_ body: () throws -> Result) rethrows -> Result {
        try withLockUnchecked { _ in try body() }
    }

    /// Calls `body` with the lock held.
    public func withLock<Result: Sendable>(_ body: @Sendable () throws -> Result) rethrows -> Result {
        try withLockUnchecked { _ in try body() }
    }

    /// Calls `body` with the lock held, or returns nil if another thread holds it.
    public func withLockIfAvailable<Result: Sendable>(_ body: @Sendable () throws -> Result) rethrows -> Result? {
        try withLockIfAvailableUnchecked { _ in try body() }
    }
}
