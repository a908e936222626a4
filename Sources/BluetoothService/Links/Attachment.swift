import Foundation

/// One manager's use of a link: what it is told of the peer passes through here, until it lets go.
final class Attachment {
    let manager: ManagerKey
    /// Whose use of which peer it is, for observers.
    let subject: Observation.Subject
    private let send: (PeerEvent) -> Void
    /// Whether the manager still counts as connected.
    private(set) var isLive = true
    /// What the manager has found so far: handles of services and of characteristic values (behaviour 4.2).
    private var known: Set<AttributeHandle> = []

    init(_ manager: ManagerKey, _ subject: Observation.Subject, send: @escaping (PeerEvent) -> Void) {
        self.manager = manager
        self.subject = subject
        self.send = send
    }

    /// Tells the manager; after the end nothing (behaviour 3.13).
    func emit(_ event: PeerEvent) {
        if isLive { send(event) }
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
