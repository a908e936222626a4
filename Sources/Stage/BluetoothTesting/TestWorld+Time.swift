import EventLoops
import Testing

/// Time in the world.
extension TestWorld {
    /// The default time within which something is expected.
    public static let defaultLimit = Duration.seconds(30)

    /// Lets time pass in the world, which takes a fraction of that time.
    ///
    /// When the method returns, no callback of an app is running. It returns early if the task is cancelled.
    ///
    /// - Parameter duration: The time to let pass.
    public func run(for duration: Duration) async {
        _ = await advance(by: duration) { false }
    }

    /// Lets time pass in the world, on this thread.
    ///
    /// - Parameter duration: The time to let pass.
    public func run(for duration: Duration) {
        _ = advanceHere(by: duration) { false }
    }

    /// Lets time pass, but no more once a condition is true. Either is fine: the test does not fail.
    ///
    /// - Parameters:
    ///   - duration: The longest time to let pass.
    ///   - condition: Evaluated after each event in the world, on the thread that runs it.
    /// - Returns: Whether the condition became true.
    @discardableResult
    public func run(for duration: Duration, until condition: @escaping @Sendable () -> Bool) async -> Bool {
        await advance(by: duration, until: condition)
    }

    /// Lets time pass on this thread, but no more once a condition is true. Either is fine: the test does not fail.
    ///
    /// - Parameters:
    ///   - duration: The longest time to let pass.
    ///   - condition: Evaluated after each event in the world.
    /// - Returns: Whether the condition became true.
    @discardableResult
    public func run(for duration: Duration, until condition: @escaping @Sendable () -> Bool) -> Bool {
        advanceHere(by: duration, until: condition)
    }

    /// Lets time pass until a condition is true, and fails the test if it does not become true in time.
    ///
    /// - Parameters:
    ///   - limit: The longest time to let pass.
    ///   - what: A description of the condition, for the report of a failure.
    ///   - sourceLocation: The place in the test that an issue is reported at.
    ///   - condition: Evaluated after each event in the world, on the thread that runs it.
    /// - Returns: Whether the condition became true.
    @discardableResult
    public func until(
        within limit: Duration = defaultLimit,
        _ what: String? = nil,
        sourceLocation: SourceLocation = #_sourceLocation,
        _ condition: @escaping @Sendable () -> Bool
    ) async -> Bool {
        await perform(.condition(condition, what, within: limit), sourceLocation)
    }

    /// Lets time pass until a condition is true, on this thread, and fails the test if it does not become true in time.
    ///
    /// - Parameters:
    ///   - limit: The longest time to let pass.
    ///   - what: A description of the condition, for the report of a failure.
    ///   - sourceLocation: The place in the test that an issue is reported at.
    ///   - condition: Evaluated after each event in the world.
    /// - Returns: Whether the condition became true.
    @discardableResult
    public func until(
        within limit: Duration = defaultLimit,
        _ what: String? = nil,
        sourceLocation: SourceLocation = #_sourceLocation,
        _ condition: @escaping @Sendable () -> Bool
    ) -> Bool {
        performHere(.condition(condition, what, within: limit), sourceLocation)
    }

    /// Calls a closure once when time has passed in the world.
    ///
    /// - Parameters:
    ///   - delay: The time until the call.
    ///   - action: The code to call, on the thread that runs the world then. It must not let time pass itself.
    public func after(_ delay: Duration, _ action: @escaping @Sendable () -> Void) {
        let loop = simulation.loop
        loop.waitFor { _ = loop.schedule(after: delay, action) }
    }

    // MARK: Steps

    func advance(by duration: Duration, until condition: @escaping @Sendable () -> Bool) async -> Bool {
        await withTaskExecutorPreference(executor) { [self] in
            advanceHere(by: duration) { Task.isCancelled || condition() } && !Task.isCancelled
        }
    }

    func advanceHere(by duration: Duration, until condition: @escaping @Sendable () -> Bool) -> Bool {
        let (loop, story) = (simulation.loop, story)
        let isMet = simulation.run(for: duration) {
            story.move(to: loop.now - .zero)
            return condition()
        }
        story.move(to: simulation.now)
        return isMet
    }

    func perform(_ wait: WorldWait, _ place: SourceLocation) async -> Bool {
        let start = now
        let isMet = await advance(by: wait.limit, until: wait.condition)
        return conclude(wait, isMet, since: start, place)
    }

    func performHere(_ wait: WorldWait, _ place: SourceLocation) -> Bool {
        let start = now
        let isMet = advanceHere(by: wait.limit, until: wait.condition)
        return conclude(wait, isMet, since: start, place)
    }

    private func conclude(_ wait: WorldWait, _ isMet: Bool, since start: Duration, _ place: SourceLocation) -> Bool {
        let source = SourceQuote(at: place).map { "`\($0.text)`" }
        guard let text = wait.fault(WaitResult(isMet: isMet, start: start, end: now, source: source)) else {
            return true
        }
        report(WorldIssue(text: text, place: place))
        return false
    }
}
