/// What systemd does to the processes of a unit (systemctl(1)).
package enum UnitVerb: String, Hashable, Sendable {
    /// None of them runs.
    case freeze
    /// They run again.
    case thaw
}

/// Whether the unit of an app is frozen, and shall be. One thing is done to it at a time; what is wanted meanwhile is done after that.
struct FreezingMachine: Hashable {
    enum State: Hashable {
        case thawed
        case freezing(isWanted: Bool)
        case frozen
        case thawing(isWanted: Bool)
    }

    enum Event: Hashable {
        /// The app is suspended.
        case suspended
        /// It shall run, or end.
        case resumed
        /// What was done last is over.
        case done(isDone: Bool)
    }

    /// How often a unit that stays frozen is thawed before a person has to do it.
    static let maximumAttempts = 3

    private(set) var state = State.thawed
    private var attempts = 0
    /// Whether the unit is frozen for all that is known, and nothing more is tried.
    private(set) var isStuck = false

    /// What is to be done to the unit now.
    mutating func handle(_ event: Event) -> UnitVerb? {
        switch (state, event) {
        case (.thawed, .suspended): return freeze()
        case (.freezing, .suspended): state = .freezing(isWanted: true)
        case (.freezing, .resumed): state = .freezing(isWanted: false)
        case (.thawing, .suspended): state = .thawing(isWanted: true)
        case (.thawing, .resumed): state = .thawing(isWanted: false)
        case (.frozen, .resumed): return thaw()
        case (.freezing(isWanted: true), .done(isDone: true)): state = .frozen
        // Freezing can fail halfway.
        case (.freezing, .done): return thaw()
        case (.thawing(let isWanted), .done(isDone: true)):
            (state, attempts) = (.thawed, 0)
            if isWanted { return freeze() }
        case (.thawing, .done(isDone: false)):
            guard attempts < Self.maximumAttempts else {
                (state, isStuck) = (.thawed, true)
                return nil
            }
            return thaw()
        case (.thawed, .resumed), (.thawed, .done), (.frozen, .suspended), (.frozen, .done): break
        }
        return nil
    }

    private mutating func freeze() -> UnitVerb? {
        // Better one that runs than one that nobody can wake.
        guard !isStuck else { return nil }
        state = .freezing(isWanted: true)
        return .freeze
    }

    private mutating func thaw() -> UnitVerb? {
        attempts += 1
        state = .thawing(isWanted: false)
        return .thaw
    }
}
