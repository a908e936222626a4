import BluetoothTypes

/// The state machine that quiets the radio for operations that a controller disallows while the radio is busy: setting
/// the random address (Core Vol 4 Part E 7.8.4) and changing the resolving list (7.8.38 to 7.8.44, 7.8.77).
///
/// It pauses the radio's users, has the jobs carried out, and resumes the users.
package struct QuietMachine {
    /// A component that keeps the radio busy.
    package enum User: CaseIterable {
        case advertiser
        case scanner
        case connector
    }

    /// An operation that needs a quiet radio.
    package enum Job: CaseIterable {
        case address
        case list
        /// Resetting the controller and setting it up differently (Core Vol 4 Part E 3.1.1).
        case renewal
    }

    enum State: Equatable {
        case running
        /// Waiting for these users to fall silent.
        case pausing(waiting: Set<User>)
        case working(Set<Job>)
    }

    package enum Event {
        /// The controller is ready. With extended advertising every set has an address of its own.
        case begin(hasSetAddresses: Bool)
        case need(Job)
        case quiet(User)
        /// Waiting for silence timed out. The jobs are attempted anyway; the controller decides.
        case timeOver
        case done
        /// The controller is gone.
        case reset
    }

    enum Action: Equatable {
        case pause(User)
        case resume(User)
        case work(Set<Job>)
        /// Starts a timer of ``QuietMachine/limit``.
        case startTimer
        case endTimer
    }

    /// How long to wait for silence. Controllers stop within milliseconds.
    static let limit = Duration.seconds(2)

    private(set) var state = State.running
    private var paused: Set<User> = []
    private var needed: Set<Job> = []
    private var hasSetAddresses: Bool?

    var brokenInvariant: String? {
        switch state {
        case .running:
            guard paused.isEmpty else { return "a user stays paused although no job needs a quiet radio" }
            return hasSetAddresses == nil || needed.isEmpty ? nil : "a job is not carried out"
        case .pausing(let waiting):
            return !waiting.isEmpty && waiting.isSubset(of: paused) ? nil : "a job waits for no paused user"
        case .working(let jobs): return jobs.isEmpty ? "the radio is quiet for no job" : nil
        }
    }

    mutating func handle(_ event: Event) -> [Action] {
        defer { assert(brokenInvariant == nil, brokenInvariant ?? "") }
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

    /// Paused users are not resumed: they start anew with the next controller.
    private mutating func reset() -> [Action] {
        let wasPausing = if case .pausing = state { true } else { false }
        (state, paused, needed, hasSetAddresses) = (.running, [], [], nil)
        return wasPausing ? [.endTimer] : []
    }

    /// Pauses the users that the jobs affect and that are not paused yet.
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

    /// In order of how fast they stop. The advertiser comes last, since peers wait for it.
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

/// A component that uses the radio under an address of the device, and pauses while that address changes.
///
/// Once silent, it calls ``DevicePrivacy/handle(_:)`` with ``QuietMachine/Event/quiet(_:)``.
package protocol RadioUser: AnyObject {
    func pause()
    func resume()
}

/// The advertiser, as a user of the radio.
package protocol AdvertisingUser: RadioUser {
    /// The address to which centrals currently connect.
    var connectableAddress: BluetoothAddress? { get }
}

/// The connector, as a user of the radio.
package protocol ConnectingUser: RadioUser {
    /// Called when the set of peers whose addresses the controller resolves has changed.
    func reviewRoutes()
}
