import EventLoops
import Foundation
import ServiceMessages

/// One manager's use of a link. Events of the peer pass through it to the manager until the manager disconnects.
final class Attachment {
    let key: ManagerKey
    fileprivate let manager: AppManager
    fileprivate let peer: UUID
    fileprivate let loop: any EventLoop
    /// The manager and the peer, for observers.
    var subject: Observation.Subject { manager.subject.about(peer) }
    var app: AppIdentity? { manager.subject.app }
    /// Whether the manager still counts as connected.
    private(set) var isLive = true
    private var writeCredits = CreditBatch(limit: ServiceLimits.writesWithoutResponse)
    var phase: AppPhase { manager.lifecycle.phase }
    /// Whether the user may have to be alerted in place of the app (behaviour 3.15).
    var showsAlerts: Bool { manager.lifecycle.rules.showsAlerts }
    /// Whether the manager needs this system's notifications to be authorized for the peer (ANCS, behaviour 3.19).
    let requiresNotifications: Bool
    var watchesLink = false
    /// Whether the manager's requests may pair.
    var pairs = true
    /// The attributes that the manager has discovered: handles of services and characteristic values (behaviour 4.2).
    private var known: Set<AttributeHandle> = []

    init(_ key: ManagerKey, _ manager: AppManager, of peer: UUID, loop: any EventLoop, requiresNotifications: Bool) {
        self.key = key
        self.requiresNotifications = requiresNotifications
        self.manager = manager
        self.peer = peer
        self.loop = loop
    }

    /// Ends this attachment, and returns one for another process of the app, which gets no answers meant for this one.
    func renewed() -> Attachment {
        let new = Attachment(key, manager, of: peer, loop: loop, requiresNotifications: requiresNotifications)
        new.known = known
        end()
        return new
    }

    func knows(_ handle: AttributeHandle) -> Bool { known.contains(handle) }

    /// Sends an event to the manager; no effect after ``end()`` (behaviour 3.13).
    func emit(_ event: PeerEvent, isAwaited: Bool = false) {
        if isLive { manager.deliver(.central(.peer(peer, event)), on: loop, isAwaited: isAwaited) }
    }

    /// Called when the manager has sent a write without response, for which it had a credit.
    func spendWriteCredit() { writeCredits.spend() }

    /// Returns the credit of a processed write without response; `waiting` of the manager's are still queued.
    func returnWriteCredit(waiting: Int) {
        guard writeCredits.add(1, waiting: waiting) else { return }
        loop.execute { [self] in
            let (count, isAwaited) = writeCredits.take()
            emit(.writeCreditsReturned(count), isAwaited: isAwaited)
        }
    }

    func end() {
        isLive = false
    }

    /// Adds the elements that match to those discovered before, and returns all of them in the order of `all`.
    func found<Element>(
        _ all: [Element],
        at handle: (Element) -> AttributeHandle,
        where isWanted: (Element) -> Bool
    ) -> [Element] {
        for element in all where isWanted(element) { known.insert(handle(element)) }
        return all.filter { known.contains(handle($0)) }
    }

    /// Forgets the handles in `range`, whose meaning has changed, and returns those that the manager had discovered.
    func invalidate(_ range: ClosedRange<AttributeHandle>) -> [AttributeHandle] {
        let lost = known.filter { range.contains($0) }
        known.subtract(lost)
        return lost.sorted()
    }
}

/// The managers that use one link, the oldest first.
final class Attachments {
    private(set) var all: [Attachment] = []

    subscript(_ key: ManagerKey) -> Attachment? { all.first { $0.key == key } }

    func add(_ user: Attachment) { all.append(user) }

    func replace(_ user: Attachment, by new: Attachment) {
        if let index = all.firstIndex(where: { $0 === user }) { all[index] = new }
    }

    func remove(_ user: Attachment) { all.removeAll { $0 === user } }

    func removeAll() -> [Attachment] {
        defer { all = [] }
        return all
    }
}

/// The manager that waits for the outcome of one request.
struct Asker {
    let user: Attachment
    /// The app's number of the request; 0 if it has none.
    var number: UInt32 = 0

    /// Sends the outcome of the request to the manager; no effect after the attachment has ended.
    func answer(_ event: PeerEvent) {
        guard user.isLive else { return }
        let (manager, peer) = (user.manager, user.peer)
        let event: CentralEvent = number == 0 ? .peer(peer, event) : .answered(peer, number: number, event)
        manager.deliver(.central(event), on: user.loop)
    }
}
