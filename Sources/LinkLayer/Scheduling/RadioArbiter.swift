import EventLoops
import HCI
import Radio

/// One of the things that a controller does with its only radio.
protocol RadioUser: AnyObject {
    /// The higher one takes the radio from the lower one.
    var priority: RadioPriority { get }
    /// What its time counts as, as long as it says nothing else.
    var share: RadioShare { get }
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
    /// What an AuxPtr leads to, and answers: there is no other time for them.
    case following
    case advertising
    /// Periodic advertising, of this device or of another one that is followed: its times are fixed.
    case periodic
    /// A connection event, with how urgent it is: the events that the link has missed in a row, and far more when its
    /// supervision timeout comes near. Who starves, wins.
    case connection(urgency: Int)

    /// From here on a link is in danger of being lost, and nothing goes before it.
    static let danger = 10_000

    /// Whether it belongs to a link.
    var isLink: Bool { self >= .connection(urgency: 0) }
    /// Whether it belongs to a link that must not wait.
    var isInDanger: Bool { self >= .connection(urgency: Self.danger) }
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

    /// Whether this user ends in time for the other one. Advertising sets do not for each other: they wait. Nor does a train
    /// for what can be put off: its own set alone would have its time come while a long event is on the air.
    func yields(to other: any RadioUser) -> Bool {
        switch priority {
        case .advertising: other.priority != .advertising
        case .periodic: other.priority >= .periodic
        default: true
        }
    }
}

/// Shares the one radio of a controller: it does one thing at a time.
///
/// Connection events come first. They tell when they will begin, so that others end in time instead of being cut off.
/// Three rules keep everybody alive:
///
/// 1. *Links take turns.* Of two that want the radio at once the one that has missed more events in a row has it, and one
///    that has not been heard for half of its supervision timeout goes before all.
/// 2. *Links share with the rest.* While scanning, initiating or advertising waits for links, an eighth of that time is
///    owed to it. A link ends its event early enough to pay, at the end of its interval or before the next link.
/// 3. *Debts are paid.* Where events are too short to end earlier, links that are not in danger leave events out from the
///    moment that a turn of 10 ms is owed until it has been had.
final class RadioArbiter {
    /// One part in so many of the time that others wait for links is owed to them.
    static let share: Int64 = 8
    /// As soon as so many microseconds are owed, links leave events out.
    static let turn: Int64 = 10_000
    /// More than so many microseconds are never owed.
    static let maximumOwed: Int64 = 500_000

    /// How often a place is looked for.
    static let maximumAttempts = 64

    /// The radio.
    let node: RadioNode
    private(set) var owner: (any RadioUser)?
    private var waiting: [any RadioUser] = []
    private var reservations: [(user: any RadioUser, start: Instant)] = []
    private let loop: any EventLoop
    /// What links owe to the rest, in nanoseconds; when that was last reckoned up, and whether it is being paid.
    private var debt: Int64 = 0
    private var reckoned = Instant.zero
    private var lastRefusal = Instant.zero
    private var isPaying = false
    private var account = RadioAccount()

    init(node: RadioNode, loop: any EventLoop) {
        self.node = node
        self.loop = loop
        node.onSent = { [weak self] in
            guard let self else { return }
            // Whoever sent may have gone meanwhile.
            if let owner { owner.radioSent() } else { offer() }
        }
        node.onFrameStart = { [weak self] in self?.owner?.radioHeardStart() }
        node.onFrame = { [weak self] in self?.owner?.radioReceived($0) }
    }

    /// What the radio was used for up to now.
    var uses: [RadioUse: RadioNode.AirTime] {
        account.settle(owner?.share, at: node.airTime)
        return account.uses
    }

    /// What the radio was used for since it was settled last, by whoever has it.
    func settle(_ share: RadioShare) {
        account.settle(share, at: node.airTime)
    }

    /// What a use has of the radio.
    func share(of use: RadioUse) -> RadioShare { account.share(of: use) }

    /// A link is over.
    func retire(_ link: ConnectionHandle) {
        account.retire(link)
    }

    /// Takes the radio if it is free, or if a less important user has it and nothing is being sent.
    func claim(_ user: any RadioUser) -> Bool {
        if owner === user { return true }
        reckon()
        guard !node.isSending, !stepsBack(user) else { return false }
        let former = owner
        if let former {
            guard former.priority < user.priority else { return false }
            node.sleep()
        }
        account.settle(former?.share, at: node.airTime)
        owner = user
        waiting.removeAll { $0 === user }
        former?.radioTaken()
        return true
    }

    /// Gives the radio back and offers it to those who wait, the most important first.
    func release(_ user: any RadioUser) {
        guard owner === user else { return }
        reckon()
        node.sleep()
        account.settle(user.share, at: node.airTime)
        owner = nil
        offer()
    }

    /// Puts a user on the list of those who are told when the radio is free.
    func wait(_ user: any RadioUser) {
        reckon()
        if !waiting.contains(where: { $0 === user }) { waiting.append(user) }
    }

    /// Forgets a user altogether.
    func remove(_ user: any RadioUser) {
        reckon()
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
        nextReservation(after: instant, except: user) { _ in true }
    }

    private func nextReservation(
        after instant: Instant,
        except user: any RadioUser,
        where counts: (any RadioUser) -> Bool
    ) -> Instant {
        var next = Instant(nanoseconds: .max)
        for reservation in reservations
        where reservation.user !== user && user.yields(to: reservation.user) && counts(reservation.user) {
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
        reckon()
        let pays = isPaying && !user.priority.isLink
        let next = nextReservation(after: instant, except: user) {
            !pays || !$0.priority.isLink || $0.priority.isInDanger
        }
        let isFree = instant.advanced(byMicroseconds: microseconds) <= next
        if !isFree, !user.priority.isLink { refuse(microseconds) }
        return isFree
    }

    /// Whether a more urgent link would be kept from its event by one that begins now and takes so many microseconds.
    func isNeeded(within microseconds: Int64, by user: any RadioUser) -> Bool {
        let end = loop.now.advanced(byMicroseconds: microseconds)
        return reservations.contains {
            $0.user !== user && $0.start >= loop.now && $0.start < end && $0.user.priority.isLink
                && $0.user.priority > user.priority
        }
    }

    // MARK: Debts

    /// What links have to leave of their time to those who wait, in microseconds.
    var owed: Int64 {
        reckon()
        return othersWait ? debt / 1_000 : 0
    }

    private var othersWait: Bool { waiting.contains { !$0.priority.isLink } }

    /// Whether a link leaves this event out because of what is owed.
    private func stepsBack(_ user: any RadioUser) -> Bool {
        guard isPaying, user.priority.isLink, !user.priority.isInDanger else { return false }
        return othersWait || owner.map { !$0.priority.isLink } ?? false
    }

    /// Brings the account up to date: it grows while others wait for a link, and falls while one of them has the radio.
    private func reckon() {
        let now = loop.now
        let elapsed = now.nanoseconds(since: reckoned)
        reckoned = now
        guard let owner else { return }
        if owner.priority.isLink {
            if othersWait { owe(elapsed / Self.share) }
        } else {
            debt = max(debt - elapsed, 0)
        }
        if debt == 0 { isPaying = false }
    }

    /// There was no time for an exchange of so many microseconds: that is owed too, as far as the share goes.
    private func refuse(_ microseconds: Int64) {
        let elapsed = loop.now.nanoseconds(since: lastRefusal)
        lastRefusal = loop.now
        owe(min(microseconds * 1_000, elapsed / Self.share))
    }

    private func owe(_ nanoseconds: Int64) {
        debt = min(debt + nanoseconds, Self.maximumOwed * 1_000)
        if debt >= Self.turn * 1_000 { isPaying = true }
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
