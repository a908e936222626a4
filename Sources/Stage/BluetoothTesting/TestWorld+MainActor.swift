import Dispatch
import Foundation
import Testing

/// Waits for apps on the main actor. The thread of the world evaluates nothing while the main actor does.
extension TestWorld {
    /// Lets time pass until a condition of the main actor is true, and fails the test if it does not become true in
    /// time.
    ///
    /// For classes marked `@MainActor`, whose managers are on the main queue.
    ///
    /// - Parameters:
    ///   - limit: The longest time to let pass.
    ///   - what: A description of the condition, for the report of a failure.
    ///   - sourceLocation: The place in the test that an issue is reported at.
    ///   - condition: Evaluated after each event in the world, on the main actor.
    /// - Returns: Whether the condition became true.
    @discardableResult
    public func untilOnMainActor(
        within limit: Duration = defaultLimit,
        _ what: String? = nil,
        sourceLocation: SourceLocation = #_sourceLocation,
        _ condition: @escaping @MainActor @Sendable () -> Bool
    ) async -> Bool {
        await until(within: limit, what, sourceLocation: sourceLocation, Self.onMainActor(condition))
    }

    /// Expects that a value of the main actor becomes equal to another one.
    ///
    /// The report of a failure contains the values that were seen, and when.
    ///
    /// - Parameters:
    ///   - value: The value, evaluated after each event in the world, on the main actor.
    ///   - expected: The expected value.
    ///   - what: A description of the value, for the report of a failure.
    ///   - limit: The longest time to let pass.
    ///   - sourceLocation: The place in the test that an issue is reported at.
    /// - Returns: Whether the value became equal.
    @discardableResult
    public func expectOnMainActor<Value: Equatable & Sendable>(
        _ value: @autoclosure @escaping @MainActor @Sendable () -> Value,
        equals expected: Value,
        _ what: String? = nil,
        within limit: Duration = defaultLimit,
        sourceLocation: SourceLocation = #_sourceLocation
    ) async -> Bool {
        let current = Self.onMainActor(value)
        return await expect(current(), equals: expected, what, within: limit, sourceLocation: sourceLocation)
    }

    /// The world waits for the value. The main queue is free, since a test that waits for the world has left it.
    private static func onMainActor<Value: Sendable>(
        _ value: @escaping @MainActor @Sendable () -> Value
    ) -> @Sendable () -> Value {
        { DispatchQueue.main.sync { MainActor.assumeIsolated(value) } }
    }
}

/// The thread of a world. A test that ran its world on a thread of the cooperative pool would keep the tasks of apps
/// from running.
final class WorldExecutor: TaskExecutor {
    let queue: DispatchQueue

    init(_ name: String) {
        queue = DispatchQueue(label: "the world of \(name)")
    }

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        queue.async { [self] in job.runSynchronously(on: asUnownedTaskExecutor()) }
    }
}
