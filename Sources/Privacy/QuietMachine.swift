/// Makes the radio quiet for what a controller does not allow while it is busy: another random address (Core Vol 4 Part E
/// 7.8.4) and changes of the resolving list (7.8.38 to 7.8.44, 7.8.77). Those who use the radio fall silent, the work is done,
/// and they go on.
package struct QuietMachine {
    /// Who keeps the radio busy.
    package enum User: CaseIterable {
        case advertiser
        case scanner
        case connector
    }

    /// What is to be done in the quiet.
    package enum Job: CaseIterable {
        /// Another random address for those who share it.
        case address
        /// Another resolving list.
        case list
        /// The controller is reset and driven otherwise (Core Vol 4 Part E 3.1.1).
        case renewal
    }

    enum State: Equatable {
        case running
        /// These are to fall silent, and have not yet.
        case pausing(waiting: Set<User>)
        /// The commands are on their way.
        case working(Set<Job>)
    }

    package enum Event {
        /// The controller is ready; with extended advertising every set has an address of its own.
        case begin(hasSetAddresses: Bool)
        case need(Job)
        case quiet(User)
        /// The time to wait for silence is over: what the controller makes of it is seen when it is tried.
        case timeOver
        case done
        /// There is no controller.
        case reset
    }

    enum Action: Equatable {
        case pause(User)
        case resume(User)
        case work(Set<Job>)
        /// Begins to count ``QuietMachine/limit``.
        case startTimer
        case endTimer
    }

    /// How long to wait for silence. Controllers end what they do within milliseconds.
    static let limit = Duration.seconds(2)

    private(set) var state = State.running
    private var paused: Set<User> = []
    private var needed: Set<Job> = []
    private var hasSetAddresses: Bool?

    mutating func handle(_ event: Event) -> [Action] {
        switch event {
        case .begin(let hasSetAddresses):
            self.hasSetAddresses = hasSetAddresses
            return advance()
        case .need(let job):
            needed.insert(job)
            return advance()
        case .quiet(let user): return quiet(user)
        case .timeOver: return timeOver()
        case .done: return done()
        case .reset: return reset()
        }
    }

    private mutating func quiet(_ user: User) -> [Action] {
        guard case .pausing(var waiting) = state, waiting.remove(user) != nil else { return [] }
        state = .pausing(waiting: waiting)
        return waiting.isEmpty ? work() : []
    }

    private mutating func timeOver() -> [Action] {
        guard case .pausing = state else { return [] }
        return work()
    }

    private mutating func done() -> [Action] {
        guard case .working = state else { return [] }
        state = .running
        guard needed.isEmpty else { return advance() }
        let users = paused
        paused = []
        return User.allCases.filter(users.contains).map { .resume($0) }
    }

    /// Those who were silent begin anew with the controller, by themselves.
    private mutating func reset() -> [Action] {
        let wasPausing = if case .pausing = state { true } else { false }
        (state, paused, needed, hasSetAddresses) = (.running, [], [], nil)
        return wasPausing ? [.endTimer] : []
    }

    /// Lets those fall silent whom the work disturbs and who have not been asked yet.
    private mutating func advance() -> [Action] {
        guard let hasSetAddresses, !needed.isEmpty else { return [] }
        let isForAll = needed.contains(.list) || needed.contains(.renewal) || !hasSetAddresses
        let users: Set<User> = isForAll ? Set(User.allCases) : [.scanner, .connector]
        let new = users.subtracting(paused)
        switch state {
        case .working: return []
        case .running:
            paused.formUnion(new)
            guard !new.isEmpty else { return work() }
            state = .pausing(waiting: new)
            return [.startTimer] + pauses(new)
        case .pausing(let waiting):
            paused.formUnion(new)
            state = .pausing(waiting: waiting.union(new))
            return pauses(new)
        }
    }

    /// First those who are done at once, and at last the advertiser, which others wait for.
    private func pauses(_ users: Set<User>) -> [Action] {
        User.allCases.reversed().filter(users.contains).map { .pause($0) }
    }

    private mutating func work() -> [Action] {
        let wasPausing = if case .pausing = state { true } else { false }
        let jobs = needed
        needed = []
        state = .working(jobs)
        return (wasPausing ? [.endTimer] : []) + [.work(jobs)]
    }
}
