import EventLoops
import Synchronization

/// The clock of a world, for code that sleeps: `try await Task.sleep(for: .seconds(3), clock: world.clock)`.
public struct SimulatedClock: Clock {
    /// A point in the time of a world.
    public struct Instant: InstantProtocol {
        /// The time since the world began.
        public let offset: Duration

        /// Returns the instant that is `duration` later, or earlier if `duration` is negative.
        ///
        /// - Parameter duration: The time between the two instants.
        public func advanced(by duration: Duration) -> Instant { Instant(offset: offset + duration) }

        /// Returns the time from this instant to another one.
        ///
        /// - Parameter other: The other instant. If it is the earlier one, the time is negative.
        public func duration(to other: Instant) -> Duration { other.offset - offset }

        /// Whether the first instant is earlier.
        public static func < (a: Instant, b: Instant) -> Bool { a.offset < b.offset }
    }

    let loop: any EventLoop

    /// The current time of the world.
    public var now: Instant {
        let loop = loop
        return Instant(offset: loop.waitFor { loop.now - .zero })
    }

    /// One nanosecond: the clock of a loop is exact.
    public var minimumResolution: Duration { .nanoseconds(1) }

    /// Suspends the task until a point in the time of the world.
    ///
    /// - Parameters:
    ///   - deadline: The time to wake up.
    ///   - tolerance: Ignored.
    /// - Throws: `CancellationError`, at once, when the task is cancelled.
    public func sleep(until deadline: Instant, tolerance: Duration? = nil) async throws {
        let sleep = Sleep(loop: loop)
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { sleep.begin($0, until: .zero + deadline.offset) }
        } onCancel: {
            sleep.cancel()
        }
    }
}

/// One sleep. It ends once: by its timer, or by cancellation, which may come before it has begun.
private final class Sleep: Sendable {
    private enum State {
        case new
        case asleep(CheckedContinuation<Void, any Error>)
        case ended
    }

    private let loop: any EventLoop
    private let state = Mutex(State.new)
    private let timer = Mutex<ScheduledTask?>(nil)

    init(loop: any EventLoop) {
        self.loop = loop
    }

    func begin(_ continuation: CheckedContinuation<Void, any Error>, until deadline: EventLoops.Instant) {
        let isCancelled = state.withLock {
            guard case .new = $0 else { return true }
            $0 = .asleep(continuation)
            return false
        }
        guard !isCancelled else { return continuation.resume(throwing: CancellationError()) }
        loop.submit { [self] in
            let task = loop.schedule(at: deadline) { [self] in end(.success(())) }
            timer.withLock { $0 = task }
        }
    }

    func cancel() {
        end(.failure(CancellationError()))
        // After the submission that sets the timer, if there was one.
        loop.submit { [self] in
            if let task = timer.withLock({ $0 }) { loop.cancel(task) }
        }
    }

    private func end(_ result: Result<Void, any Error>) {
        let continuation = state.withLock { state -> CheckedContinuation<Void, any Error>? in
            defer { state = .ended }
            guard case .asleep(let continuation) = state else { return nil }
            return continuation
        }
        continuation?.resume(with: result)
    }
}
