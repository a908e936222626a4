import AppAdvice
import CoreBluetooth
import EventLoops
import Testing

/// Expectations that let time pass. Each returns whether it was met, and fails the test otherwise.
extension TestWorld {
    /// Expects that a value becomes equal to another one.
    ///
    /// The report of a failure contains the values that were seen, and when.
    ///
    /// - Parameters:
    ///   - value: The value, evaluated after each event in the world, on the thread that runs it.
    ///   - expected: The expected value.
    ///   - what: A description of the value, for the report of a failure.
    ///   - limit: The longest time to let pass.
    ///   - sourceLocation: The place in the test that an issue is reported at.
    /// - Returns: Whether the value became equal.
    @discardableResult
    public func expect<Value: Equatable & Sendable>(
        _ value: @autoclosure @escaping @Sendable () -> Value,
        equals expected: Value,
        _ what: String? = nil,
        within limit: Duration = defaultLimit,
        sourceLocation: SourceLocation = #_sourceLocation
    ) async -> Bool {
        await perform(waitForValue(value, expected, what, limit) { WorldWait.text($0) }, sourceLocation)
    }

    /// Expects that a value becomes equal to another one. Runs the world on this thread.
    ///
    /// - Parameters:
    ///   - value: The value, evaluated after each event in the world.
    ///   - expected: The expected value.
    ///   - what: A description of the value, for the report of a failure.
    ///   - limit: The longest time to let pass.
    ///   - sourceLocation: The place in the test that an issue is reported at.
    /// - Returns: Whether the value became equal.
    @discardableResult
    public func expect<Value: Equatable & Sendable>(
        _ value: @autoclosure @escaping @Sendable () -> Value,
        equals expected: Value,
        _ what: String? = nil,
        within limit: Duration = defaultLimit,
        sourceLocation: SourceLocation = #_sourceLocation
    ) -> Bool {
        performHere(waitForValue(value, expected, what, limit) { WorldWait.text($0) }, sourceLocation)
    }

    /// Expects that a value does not change for a while.
    ///
    /// - Parameters:
    ///   - value: The value, evaluated after each event in the world, on the thread that runs it.
    ///   - what: A description of the value, for the report of a failure.
    ///   - duration: The time to let pass. If the value changes, less time passes.
    ///   - sourceLocation: The place in the test that an issue is reported at.
    /// - Returns: Whether the value stayed the same.
    @discardableResult
    public func expectUnchanged<Value: Equatable & Sendable>(
        _ value: @autoclosure @escaping @Sendable () -> Value,
        _ what: String? = nil,
        for duration: Duration,
        sourceLocation: SourceLocation = #_sourceLocation
    ) async -> Bool {
        await perform(.unchanged(value, what, for: duration), sourceLocation)
    }

    /// Expects that a value does not change for a while. Runs the world on this thread.
    ///
    /// - Parameters:
    ///   - value: The value, evaluated after each event in the world.
    ///   - what: A description of the value, for the report of a failure.
    ///   - duration: The time to let pass. If the value changes, less time passes.
    ///   - sourceLocation: The place in the test that an issue is reported at.
    /// - Returns: Whether the value stayed the same.
    @discardableResult
    public func expectUnchanged<Value: Equatable & Sendable>(
        _ value: @autoclosure @escaping @Sendable () -> Value,
        _ what: String? = nil,
        for duration: Duration,
        sourceLocation: SourceLocation = #_sourceLocation
    ) -> Bool {
        performHere(.unchanged(value, what, for: duration), sourceLocation)
    }

    /// Expects that no app makes a request or receives an event for a while.
    ///
    /// - Parameters:
    ///   - duration: The time to let pass. If something happens, less time passes.
    ///   - sourceLocation: The place in the test that an issue is reported at.
    /// - Returns: Whether nothing happened.
    @discardableResult
    public func expectNothing(
        for duration: Duration,
        sourceLocation: SourceLocation = #_sourceLocation
    ) async -> Bool {
        await perform(waitForMessage(duration), sourceLocation)
    }

    /// Expects that no app makes a request or receives an event for a while. Runs the world on this thread.
    ///
    /// - Parameters:
    ///   - duration: The time to let pass. If something happens, less time passes.
    ///   - sourceLocation: The place in the test that an issue is reported at.
    /// - Returns: Whether nothing happened.
    @discardableResult
    public func expectNothing(
        for duration: Duration,
        sourceLocation: SourceLocation = #_sourceLocation
    ) -> Bool {
        performHere(waitForMessage(duration), sourceLocation)
    }

    /// Expects that a manager's state becomes another one.
    ///
    /// - Parameters:
    ///   - manager: The manager.
    ///   - state: The expected state.
    ///   - limit: The longest time to let pass.
    ///   - sourceLocation: The place in the test that an issue is reported at.
    /// - Returns: Whether the manager got into the state.
    @discardableResult
    public func expect(
        _ manager: CBManager,
        is state: CBManagerState,
        within limit: Duration = defaultLimit,
        sourceLocation: SourceLocation = #_sourceLocation
    ) async -> Bool {
        await perform(waitForState(of: manager, state, limit), sourceLocation)
    }

    /// Expects that a manager's state becomes another one. Runs the world on this thread.
    ///
    /// - Parameters:
    ///   - manager: The manager.
    ///   - state: The expected state.
    ///   - limit: The longest time to let pass.
    ///   - sourceLocation: The place in the test that an issue is reported at.
    /// - Returns: Whether the manager got into the state.
    @discardableResult
    public func expect(
        _ manager: CBManager,
        is state: CBManagerState,
        within limit: Duration = defaultLimit,
        sourceLocation: SourceLocation = #_sourceLocation
    ) -> Bool {
        performHere(waitForState(of: manager, state, limit), sourceLocation)
    }

    /// Expects that a peripheral's state becomes another one.
    ///
    /// - Parameters:
    ///   - peripheral: The peripheral.
    ///   - state: The expected state.
    ///   - limit: The longest time to let pass.
    ///   - sourceLocation: The place in the test that an issue is reported at.
    /// - Returns: Whether the peripheral got into the state.
    @discardableResult
    public func expect(
        _ peripheral: CBPeripheral,
        is state: CBPeripheralState,
        within limit: Duration = defaultLimit,
        sourceLocation: SourceLocation = #_sourceLocation
    ) async -> Bool {
        await perform(waitForState(of: peripheral, state, limit), sourceLocation)
    }

    /// Expects that a peripheral's state becomes another one. Runs the world on this thread.
    ///
    /// - Parameters:
    ///   - peripheral: The peripheral.
    ///   - state: The expected state.
    ///   - limit: The longest time to let pass.
    ///   - sourceLocation: The place in the test that an issue is reported at.
    /// - Returns: Whether the peripheral got into the state.
    @discardableResult
    public func expect(
        _ peripheral: CBPeripheral,
        is state: CBPeripheralState,
        within limit: Duration = defaultLimit,
        sourceLocation: SourceLocation = #_sourceLocation
    ) -> Bool {
        performHere(waitForState(of: peripheral, state, limit), sourceLocation)
    }

    /// Expects that no app has misused the API since the last call of this method.
    ///
    /// At the end of each test this is checked anyway, unless the test allows misuse.
    ///
    /// - Parameter sourceLocation: The place in the test that an issue is reported at.
    /// - Returns: Whether there was none.
    @discardableResult
    public func expectNoMisuse(sourceLocation: SourceLocation = #_sourceLocation) -> Bool {
        checkMisuse(at: sourceLocation)
    }

    func checkMisuse(at place: SourceLocation?) -> Bool {
        // What apps reported from threads of their own is still on its way.
        simulation.loop.waitFor {}
        let events = takeMisuse()
        guard !events.isEmpty else { return true }
        let text = "apps misused the API \(events.count == 1 ? "once" : "\(events.count) times")"
        let lines = Story(of: events).digest(maximum: Self.maximumIssueLines, WorldTime.text)
        report(WorldIssue(text: ([text] + lines).joined(separator: "\n"), place: place))
        return false
    }

    // MARK: Waits

    private func waitForValue<Value: Equatable & Sendable>(
        _ value: @escaping @Sendable () -> Value,
        _ expected: Value,
        _ what: String?,
        _ limit: Duration,
        words: @escaping @Sendable (Value) -> String
    ) -> WorldWait {
        let story = story
        return .value(value, equals: expected, what, within: limit, at: { story.time }, words: words)
    }

    private func waitForState(of manager: CBManager, _ state: CBManagerState, _ limit: Duration) -> WorldWait {
        waitForValue({ manager.state }, state, "the state of the \(type(of: manager))", limit) { $0.words }
    }

    private func waitForState(of peer: CBPeripheral, _ state: CBPeripheralState, _ limit: Duration) -> WorldWait {
        waitForValue({ peer.state }, state, "the state of \(peer.name ?? "the peripheral")", limit) { $0.words }
    }

    private func waitForMessage(_ duration: Duration) -> WorldWait {
        let story = story
        let before = story.messages
        return WorldWait(limit: duration, condition: { story.messages > before }) { result in
            guard result.isMet else { return nil }
            let (start, last) = (WorldTime.text(result.start), story.lines().last ?? "")
            return "expected for \(WorldTime.words(duration)) from \(start): nothing happens; \(last)"
        }
    }
}

extension CBManagerState {
    fileprivate var words: String {
        switch self {
        case .unknown: "unknown"
        case .resetting: "resetting"
        case .unsupported: "unsupported"
        case .unauthorized: "unauthorized"
        case .poweredOff: "poweredOff"
        case .poweredOn: "poweredOn"
        default: "state \(rawValue)"
        }
    }
}

extension CBPeripheralState {
    fileprivate var words: String { name ?? "state \(rawValue)" }
}
