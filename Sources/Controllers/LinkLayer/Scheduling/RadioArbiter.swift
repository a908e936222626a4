import EventLoops
import HCI

/// An activity of a controller that needs its only radio.
protocol RadioClaimant: AnyObject {
    /// The priority. A user of higher priority takes the radio from one of lower priority.
    var priority: RadioPriority { get }
    /// The account to which its time is charged, unless it settles otherwise.
    var share: RadioShare { get }
    /// The time between two uses of the radio after the announced one, in microseconds; nil for a single use.
    var period: Int64? { get }
    func radioSent()
    /// Called at the first bit of an incoming frame.
    func radioDetectedStart()
    func radioReceived(_ frame: ReceivedFrame)
    /// Called when another user has taken the radio.
    func radioLost()
    /// Called when the radio is free. A user that waited for it may claim it now.
    func radioFree()
}

/// The priorities in the use of the radio, lowest first.
enum RadioPriority: Comparable {
    case scanning
    case initiating
    /// An auxiliary PDU and the response to it, whose times cannot be changed.
    case following
    case advertising
    /// Periodic advertising, sent or followed, whose times are fixed.
    case periodic
    /// A connection event.
    ///
    /// The urgency is the number of events in a row that the link has missed, plus ``danger`` when its supervision
    /// timeout approaches. So a starved link wins.
    case connection(urgency: Int)

    /// The urgency from which a link is in danger of being lost. Nothing precedes it.
    static let danger = 10_000

    /// Whether the user is a link.
    var isLink: Bool { self >= .connection(urgency: 0) }
    /// Whether the user is a link that is in danger of being lost.
    var isInDanger: Bool { self >= .connection(urgency: Self.danger) }
}

extension RadioClaimant {
    /// The default: a single use.
    var period: Int64? { nil }

    /// Returns the first of the user's times, announced from `first` on, that ends after an instant.
    func nextTime(from first: Instant, endingAfter instant: Instant) -> (start: Instant, end: Instant)? {
        let length = Duration.microseconds(Self.expectedTime)
        if first + length > instant { return (first, first + length) }
        guard let period, period > 0 else { return nil }
        let passed = (instant - first - length).microseconds / period + 1
        let start = first + .microseconds(passed * period)
        return (start, start + length)
    }

    /// The assumed length of an announced use, in microseconds.
    private static var expectedTime: Int64 { 2_500 }

    /// Whether this user finishes before the announced time of another one.
    ///
    /// Advertising sets do not yield to each other; they wait instead. A periodic train does not yield to lower
    /// priorities, which can be postponed: otherwise the events of its own set would fall due during any long event of
    /// the train and displace it.
    func yields(to other: any RadioClaimant) -> Bool {
        switch priority {
        case .advertising: other.priority != .advertising
        case .periodic: other.priority >= .periodic
        default: true
        }
    }
}

/// Shares the one radio of a controller among its users.
///
/// Connection events come first. They are announced in advance, so that other users finish in time instead of being cut
/// off. Three rules prevent starvation:
///
/// 1. *Links take turns.* If two links need the radio at once, the one with more missed events in a row gets it. A link
///    that has heard nothing for half of its supervision timeout precedes all others.
/// 2. *Links share with the rest.* While scanning, initiating or advertising waits for links, it is owed an eighth of
///    that time. A link pays by ending its event early, at the end of its interval or before the next link.
/// 3. *Debts are paid.* If events are too short to be ended earlier, links that are not in danger skip events, from
///    when a turn of 10 ms is owed until the debt is paid.
final class RadioArbiter {
    /// The divisor of the time for which others wait for links, which yields what they are owed.
    static let share: Int64 = 8
    /// The debt in microseconds from which links skip events.
    static let turn: Int64 = 10_000
    /// The maximum debt in microseconds.
    static let maximumOwed: Int64 = 500_000

    /// The maximum number of iterations when searching for a free time.
    static let maximumAttempts = 64

    let node: RadioNode
    private(set) var owner: (any RadioClaimant)?
    private var waiting: [any RadioClaimant] = []
    private var reservations: [(user: any RadioClaimant, start: Instant)] = []
    private let loop: any EventLoop
    /// The debt of the links to other users, in nanoseconds; when it was last updated, and whether it is being paid.
    private var debt: Int64 = 0
    private var lastUpdate = Instant.zero
    private var lastRefusal = Instant.zero
    private var isPaying = false
    private var account: RadioAccount

    init(node: RadioNode, loop: any EventLoop) {
        self.node = node
        self.loop = loop
        account = RadioAccount(of: node)
        node.onSent = { [weak self] in
            guard let self else { return }
            // The sender may have been removed in the meantime.
            if let owner { owner.radioSent() } else { offer() }
        }
        node.onFrameStart = { [weak self] in self?.owner?.radioDetectedStart() }
        node.onFrame = { [weak self] in self?.owner?.radioReceived($0) }
    }

    /// The air time used for each purpose so far.
    var uses: [RadioUse: RadioNode.AirTime] {
        account.settle(owner?.share, with: node)
        return account.uses
    }

    /// The radio time of each purpose so far. The event in progress counts when it ends.
    var times: [RadioUse: RadioTime] {
        account.settle(owner?.share, with: node)
        return account.times
    }

    /// Called before the account of an ended link is closed.
    var onRetire: ((ConnectionHandle) -> Void)?

    /// Charges the air time since the last settlement to a share. Called by the radio's current owner.
    func settle(_ share: RadioShare) {
        account.settle(share, with: node)
    }

    func share(of use: RadioUse) -> RadioShare { account.share(of: use) }

    /// Closes the account of a link that has ended.
    func retire(_ link: ConnectionHandle) {
        onRetire?(link)
        account.retire(link)
    }

    /// Takes the radio if it is free, or if a user of lower priority owns it and is not transmitting. Returns whether
    /// `user` owns it now.
    func claim(_ user: any RadioClaimant) -> Bool {
        defer { assert(brokenInvariant == nil, brokenInvariant ?? "") }
        if owner === user { return true }
        updateDebt()
        guard !node.isSending, !stepsBack(user) else { return false }
        let former = owner
        if let former {
            guard former.priority < user.priority else { return false }
            node.sleep()
        }
        account.settle(former?.share, with: node)
        if let former { account.end(former.share, at: loop.now, with: node) }
        account.begin(at: loop.now, with: node)
        owner = user
        waiting.removeAll { $0 === user }
        former?.radioLost()
        return true
    }

    /// Returns the radio and offers it to the waiting users, highest priority first.
    func release(_ user: any RadioClaimant) {
        guard owner === user else { return }
        updateDebt()
        node.sleep()
        account.settle(user.share, with: node)
        account.end(user.share, at: loop.now, with: node)
        owner = nil
        offer()
    }

    /// Adds a user to those notified when the radio is free.
    func wait(_ user: any RadioClaimant) {
        updateDebt()
        if !waiting.contains(where: { $0 === user }) { waiting.append(user) }
    }

    /// Removes a user: its waiting, its reservation and its ownership.
    func remove(_ user: any RadioClaimant) {
        updateDebt()
        waiting.removeAll { $0 === user }
        reserve(user, at: nil)
        release(user)
        assert(brokenInvariant == nil, brokenInvariant ?? "")
    }

    /// The first broken invariant; nil if all hold. Checked in debug builds after each claim and removal.
    private var brokenInvariant: String? {
        guard Set(waiting.map { ObjectIdentifier($0) }).count == waiting.count else { return "a user waits twice" }
        guard Set(reservations.map { ObjectIdentifier($0.user) }).count == reservations.count else {
            return "a user has two reservations"
        }
        return (0...Self.maximumOwed * 1_000).contains(debt) ? nil : "the debt is out of its bounds"
    }

    /// Announces when a user needs the radio next; nil withdraws the announcement.
    func reserve(_ user: any RadioClaimant, at start: Instant?) {
        let index = reservations.firstIndex { $0.user === user }
        switch (index, start) {
        case (let index?, let start?): reservations[index].start = start
        case (let index?, nil): reservations.remove(at: index)
        case (nil, let start?): reservations.append((user, start))
        case (nil, nil): break
        }
    }

    /// Returns the first time from `instant` on at which another user needs the radio. That is `instant` itself if
    /// another user's announced time has passed and it still waits.
    func nextReservation(
        after instant: Instant,
        except user: any RadioClaimant,
        where counts: (any RadioClaimant) -> Bool = { _ in true }
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

    /// Whether a user that claims the radio now can keep it for a number of microseconds.
    func isFree(_ microseconds: Int64, from instant: Instant, for user: any RadioClaimant) -> Bool {
        updateDebt()
        let pays = isPaying && !user.priority.isLink
        let next = nextReservation(after: instant, except: user) {
            !pays || !$0.priority.isLink || $0.priority.isInDanger
        }
        let isFree = instant.advanced(byMicroseconds: microseconds) <= next
        if !isFree, !user.priority.isLink { refuse(microseconds) }
        return isFree
    }

    /// Whether using the radio for a number of microseconds from now would make a more urgent link miss its event.
    func isNeeded(within microseconds: Int64, by user: any RadioClaimant) -> Bool {
        let end = loop.now.advanced(byMicroseconds: microseconds)
        return reservations.contains {
            $0.user !== user && $0.start >= loop.now && $0.start < end && $0.user.priority.isLink
                && $0.user.priority > user.priority
        }
    }

    // MARK: Quiet events

    /// Whether the radio is free, and nothing waits for it.
    var isIdle: Bool { owner == nil && waiting.isEmpty }

    /// Accounts for `count` exchanges of a user, before each of which the node listens for a number of microseconds. The
    /// last one ends now.
    ///
    /// - Parameters:
    ///   - listening: The share to which listening without frames is charged, and the events.
    ///   - frames: The share to which the frames are charged.
    func pass(
        _ exchange: QuietExchange,
        listeningFor time: Int64,
        times count: Int,
        listening: RadioShare,
        frames: RadioShare
    ) {
        node.countListening(time, exchange.received.modulation, times: count)
        account.settle(listening, with: node)
        node.countFrames(exchange, times: count)
        account.settle(frames, with: node)
        account.count(count, of: listening)
        updateDebt()
    }

    /// Accounts for `count` events of a user of low priority, each of which was listening for a number of microseconds
    /// and heard nothing.
    func pass(listeningFor time: Int64, _ modulation: RadioPHY.Modulation, times count: Int, of share: RadioShare) {
        node.countListening(time, modulation, times: count)
        account.settle(share, with: node)
        account.count(count, of: share)
        pay(time * 1_000 * Int64(count))
    }

    // MARK: Debts

    /// The debt in microseconds that links have to pay to waiting users.
    var owed: Int64 {
        updateDebt()
        return othersWait ? debt / 1_000 : 0
    }

    private var othersWait: Bool { waiting.contains { !$0.priority.isLink } }

    /// Whether a link skips this event because of the debt.
    private func stepsBack(_ user: any RadioClaimant) -> Bool {
        guard isPaying, user.priority.isLink, !user.priority.isInDanger else { return false }
        return othersWait || owner.map { !$0.priority.isLink } ?? false
    }

    /// Updates the debt. It grows while others wait for a link, and shrinks while another user owns the radio.
    private func updateDebt() {
        let now = loop.now
        let elapsed = now.nanoseconds(since: lastUpdate)
        lastUpdate = now
        guard let owner else { return }
        if owner.priority.isLink {
            if othersWait { owe(elapsed / Self.share) }
        } else {
            pay(elapsed)
        }
        if debt == 0 { isPaying = false }
    }

    private func pay(_ nanoseconds: Int64) {
        debt = max(debt - nanoseconds, 0)
        if debt == 0 { isPaying = false }
    }

    /// Adds an exchange of a number of microseconds for which there was no time to the debt, within the limits of the
    /// share.
    private func refuse(_ microseconds: Int64) {
        let elapsed = loop.now.nanoseconds(since: lastRefusal)
        lastRefusal = loop.now
        owe(min(microseconds * 1_000, elapsed / Self.share))
    }

    private func owe(_ nanoseconds: Int64) {
        debt = min(debt + nanoseconds, Self.maximumOwed * 1_000)
        if debt >= Self.turn * 1_000 { isPaying = true }
    }

    /// Returns the first time from which the radio is expected to be free for a number of microseconds, assuming that
    /// announced uses recur with their period.
    ///
    /// If the search finds none soon, the result is a time at which the radio is not free.
    func firstFree(_ microseconds: Int64, from instant: Instant, for user: any RadioClaimant) -> Instant {
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
