import EventLoops
import Foundation

/// One manager's use of a link: what it is told of the peer passes through here, until it lets go.
final class Attachment {
    let key: ManagerKey
    fileprivate let manager: AppManager
    fileprivate let peer: UUID
    fileprivate let loop: any EventLoop
    /// Whose use of which peer it is, for observers.
    var subject: Observation.Subject { manager.subject.about(peer) }
    /// The app of the manager.
    var app: AppIdentity? { manager.subject.app }
    /// Whether the manager still counts as connected.
    private(set) var isLive = true
    private var writeCredits = CreditBatch(limit: ServiceLimits.writesWithoutResponse)
    /// Where its app is in its life.
    var phase: AppPhase { manager.life.phase }
    /// Whether the person may have to be told in place of the app (behaviour 3.15).
    var isAlertedFor: Bool { manager.life.rules.isAlertedFor }
    /// Whether the manager is told of changes of the link.
    var watchesLink = false
    /// What the manager has found so far: handles of services and of characteristic values (behaviour 4.2).
    private var known: Set<AttributeHandle> = []

    init(_ key: ManagerKey, _ manager: AppManager, of peer: UUID, loop: any EventLoop) {
        self.key = key
        self.manager = manager
        self.peer = peer
        self.loop = loop
    }

    /// The same use for another process of the app, which hears nothing of what this one asked for.
    func renewed() -> Attachment {
        let new = Attachment(key, manager, of: peer, loop: loop)
        new.known = known
        end()
        return new
    }

    /// Whether the manager has found what is at `handle`.
    func knows(_ handle: AttributeHandle) -> Bool { known.contains(handle) }

    /// Tells the manager; after the end nothing (behaviour 3.13).
    func emit(_ event: PeerEvent, isAwaited: Bool = false) {
        if isLive { manager.tell(.central(.peer(peer, event)), on: loop, isAwaited: isAwaited) }
    }

    /// The manager has sent a write without response, for which it had a credit.
    func spendWriteCredit() { writeCredits.spend() }

    /// The service is done with a write without response, and so many of the manager wait still.
    func returnWriteCredit(waiting: Int) {
        guard writeCredits.add(1, waiting: waiting) else { return }
        loop.execute { [self] in
            let (count, isAwaited) = writeCredits.take()
            emit(.writeCreditsReturned(count), isAwaited: isAwaited)
        }
    }

    /// The manager is no longer connected.
    func end() {
        isLive = false
    }

    /// What was found now, with what the manager had found before, in the order of `all`.
    func found<Element>(
        _ all: [Element],
        at handle: (Element) -> AttributeHandle,
        where isWanted: (Element) -> Bool
    ) -> [Element] {
        for element in all where isWanted(element) { known.insert(handle(element)) }
        return all.filter { known.contains(handle($0)) }
    }

    /// Forgets handles that mean something else now; those of them that the manager knew.
    func invalidate(_ range: ClosedRange<AttributeHandle>) -> [AttributeHandle] {
        let lost = known.filter { range.contains($0) }
        known.subtract(lost)
        return lost.sorted()
    }
}

/// Whoever waits for what comes of one request.
struct Asker {
    let user: Attachment
    /// The app's number of the request; 0 when it has none.
    var number: UInt32 = 0

    /// Tells the manager what came of the request; after its end nothing.
    func answer(_ event: PeerEvent) {
        guard user.isLive else { return }
        let (manager, peer) = (user.manager, user.peer)
        let event: CentralEvent = number == 0 ? .peer(peer, event) : .answered(peer, number: number, event)
        manager.tell(.central(event), on: user.loop)
    }
}
