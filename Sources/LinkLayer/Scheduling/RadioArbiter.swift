import EventLoops
import Radio

/// One of the things that a controller does with its only radio.
protocol RadioUser: AnyObject {
    /// The higher one takes the radio from the lower one.
    var priority: RadioPriority { get }
    /// How often it needs the radio once it has said when, in microseconds; nil for once.
    var period: Int64? { get }
    /// The own frame has left.
    func radioSent()
    /// The first bit of a frame arrives.
    func radioHeardStart()
    /// A frame has come in.
    func radioReceived(_ frame: ReceivedFrame)
    /// Somebody else has the radio now.
    func radioTaken()
    /// The radio is free; whoever waited for it may claim it.
    func radioFree()
}

/// Who may take the radio from whom.
enum RadioPriority: Comparable {
    case scanning
    case initiating
    /// Where an AuxPtr leads: there is no other time for it.
    case following
    case advertising
    /// A connection event, with how many events the link has missed in a row: who starves, wins.
    case connection(missed: Int)
}

extension RadioUser {
    /// How often it needs the radio once it has said when, in microseconds; nil for once.
    var period: Int64? { nil }

    /// The first time that it needs the radio, of those that end after an instant.
    func nextTime(from first: Instant, endingAfter instant: Instant) -> (start: Instant, end: Instant)? {
        let length = Duration.microseconds(Self.expectedTime)
        if first + length > instant { return (first, first + length) }
        guard let period, period > 0 else { return nil }
        let passed = (instant - first - length).microseconds / period + 1
        let start = first + .microseconds(passed * period)
        return (start, start + length)
    }

    /// How long somebody who has announced itself is expected to need the radio, in microseconds.
    private static var expectedTime: Int64 { 2_500 }

    /// Whether this user ends in time for the other one. Advertising sets do not for each other: they wait.
    func yields(to other: any RadioUser) -> Bool {
        priority != .advertising || other.priority != .advertising
    }
}

/// Shares the one radio of a controller: it does one thing at a time.
///
/// Connection events come first. They tell when they will begin, so that others end in time instead of being cut off.
final class RadioArbiter {
    /// The radio.
    let node: RadioNode
    /// How often a place is looked for.
    static let maximumAttempts = 64
    private(set) var owner: (any RadioUser)?
    private var waiting: [any RadioUser] = []
    private var reservations: [(user: any RadioUser, start: Instant)] = []

    init(node: RadioNode) {
        self.node = node
        node.onSent = { [weak self] in
            guard let self else { return }
            // Whoever sent may have gone meanwhile.
            if let owner { owner.radioSent() } else { offer() }
        }
        node.onFrameStart = { [weak self] in self?.owner?.radioHeardStart() }
        node.onFrame = { [weak self] in self?.owner?.radioReceived($0) }
    }

    /// Takes the radio if it is free, or if a less important user has it and nothing is being sent.
    func claim(_ user: any RadioUser) -> Bool {
        if owner === user { return true }
        if let owner {
            guard owner.priority < user.priority, !node.isSending else { return false }
            node.sleep()
            self.owner = user
            waiting.removeAll { $0 === user }
            owner.radioTaken()
            return true
        }
        guard !node.isSending else { return false }
        owner = user
        waiting.removeAll { $0 === user }
        return true
    }

    /// Gives the radio back and offers it to those who wait, the most important first.
    func release(_ user: any RadioUser) {
        guard owner === user else { return }
        node.sleep()
        owner = nil
        offer()
    }

    /// Puts a user on the list of those who are told when the radio is free.
    func wait(_ user: any RadioUser) {
        if !waiting.contains(where: { $0 === user }) { waiting.append(user) }
    }

    /// Forgets a user altogether.
    func remove(_ user: any RadioUser) {
        waiting.removeAll { $0 === user }
        reserve(user, at: nil)
        release(user)
    }

    /// Announces when a user needs the radio next; nil when it does not.
    func reserve(_ user: any RadioUser, at start: Instant?) {
        let index = reservations.firstIndex { $0.user === user }
        switch (index, start) {
        case (let index?, let start?): reservations[index].start = start
        case (let index?, nil): reservations.remove(at: index)
        case (nil, let start?): reservations.append((user, start))
        case (nil, nil): break
        }
    }

    /// The first moment from `instant` on at which somebody else needs the radio: at once when its time came already and
    /// it has been waiting since.
    func nextReservation(after instant: Instant, except user: any RadioUser) -> Instant {
        var next = Instant(nanoseconds: .max)
        for reservation in reservations where reservation.user !== user && user.yields(to: reservation.user) {
            if reservation.start >= instant {
                next = min(next, reservation.start)
            } else if waiting.contains(where: { $0 === reservation.user }) {
                return instant
            }
        }
        return next
    }

    /// Whether a user who claims the radio now has it for so many microseconds.
    func isFree(_ microseconds: Int64, from instant: Instant, for user: any RadioUser) -> Bool {
        instant + .microseconds(microseconds) <= nextReservation(after: instant, except: user)
    }

    /// The first instant from which the radio is free for so many microseconds, as far as is known: what others have
    /// announced comes again and again. When there is none soon, one at which it is not free.
    func firstFree(_ microseconds: Int64, from instant: Instant, for user: any RadioUser) -> Instant {
        var candidate = instant
        for _ in 0..<Self.maximumAttempts {
            let before = candidate
            for reservation in reservations where reservation.user !== user && user.yields(to: reservation.user) {
                let taken = reservation.user.nextTime(from: reservation.start, endingAfter: candidate)
                if let taken, taken.start < candidate + .microseconds(microseconds) { candidate = taken.end }
            }
            if candidate == before { return candidate }
        }
        return candidate
    }

    private func offer() {
        guard !waiting.isEmpty else { return }
        let users = waiting.sorted { $0.priority > $1.priority }
        waiting.removeAll()
        for user in users {
            if owner == nil { user.radioFree() } else { wait(user) }
        }
    }
}
