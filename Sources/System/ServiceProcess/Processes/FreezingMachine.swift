/// A command of systemd for the processes of a unit (systemctl(1)).
package enum UnitVerb: String, Hashable, Sendable {
    /// Stops all processes of the unit.
    case freeze
    /// Lets all processes run again.
    case thaw
}

/// The frozen or thawed state of an app's unit, and the intended one. Commands are executed one at a time; later events
/// take effect after the current command.
struct FreezingMachine: Hashable {
    enum State: Hashable {
        case thawed
        case freezing(isWanted: Bool)
        case frozen
        case thawing(isWanted: Bool)
    }

    enum Event: Hashable {
        case suspended
        /// The app has to run, or to end.
        case resumed
        case done(isDone: Bool)
    }

    /// How often to try to thaw a unit before leaving that to the user.
    static let maximumAttempts = 3

    private(set) var state = State.thawed
    private var attempts = 0
    /// Whether the unit is assumed to be frozen, and no more commands are tried.
    private(set) var isStuck = false

    mutating func handle(_ event: Event) -> UnitVerb? {
        switch (state, event) {
        case (.thawed, .suspended): return freeze()
        case (.freezing, .suspended): state = .freezing(isWanted: true)
        case (.freezing, .resumed): state = .freezing(isWanted: false)
        case (.thawing, .suspended): state = .thawing(isWanted: true)
        case (.thawing, .resumed): state = .thawing(isWanted: false)
        case (.frozen, .resumed): return thaw()
        case (.freezing(isWanted: true), .done(isDone: true)): state = .frozen
        // Freezing can fail after some processes have been frozen.
        case (.freezing, .done): return thaw()
        case (.thawing(let isWanted), .done(isDone: true)):
            (state, attempts) = (.thawed, 0)
            if isWanted { return freeze() }
        case (.thawing(let isWanted), .done(isDone: false)):
            guard attempts < Self.maximumAttempts else {
                (state, isStuck) = (.thawed, true)
                return nil
            }
            return thaw(isWanted: isWanted)
        case (.thawed, .resumed), (.thawed, .done), (.frozen, .suspended), (.frozen, .done): break
        }
        return nil
    }

    private mutating func freeze() -> UnitVerb? {
        // A unit that cannot be thawed must not be frozen again.
        guard !isStuck else { return nil }
        state = .freezing(isWanted: true)
        return .freeze
    }

    /// - Parameter isWanted: Whether to freeze the unit again afterwards.
    private mutating func thaw(isWanted: Bool = false) -> UnitVerb? {
        attempts += 1
        state = .thawing(isWanted: isWanted)
        return .thaw
    }
}
