import BluetoothService
import CoreBluetooth
import Synchronization

extension CBPeripheral {
    /// What the link is like now, with its signal strength.
    public func linkInformation(deadline: Duration? = nil) async throws -> LinkInformation {
        let event = try await answer(to: .readLinkInformation, within: deadline)
        guard case .linkInformation(let facts) = event else { throw event.isNoAnswer }
        return LinkInformation(facts)
    }

    /// What the link is like, and each time that it is different. It outlasts a disconnection, and begins anew with the next
    /// connection. Without such a sequence nothing is told by the service.
    public var linkChanges: EventStream<LinkInformation> {
        let watchers = asynchronous.linkWatchers
        let last = LastLink()
        let (stream, source) = EventStream<LinkInformation>.make()
        let registration = happenings.add { [weak self] happening in
            switch happening {
            case .told(.linkInformation(let facts)):
                if let new = last.take(LinkInformation(facts)) { source.send(new) }
            case .connected:
                last.forget()
                self?.tell(.watchLink(true))
            case .disconnected, .connectionFailed, .servicesModified, .told: break
            }
        }
        watchers.begin()
        source.onEnd { [self] in
            happenings.remove(registration)
            if watchers.end() { tell(.watchLink(false)) }
        }
        tell(.watchLink(true))
        return stream
    }

    /// Says what the app would like the link to be like. The two devices decide, and nothing is answered: ``linkChanges`` shows what
    /// comes of it.
    public func prefer(_ wish: LinkWish) { tell(.preferLink(LinkPreference(wish))) }
}

/// What a sequence was last told. What is told to all, since another one has begun, is no change.
private final class LastLink: Sendable {
    private let last = Mutex<LinkInformation?>(nil)

    /// The information without the signal strength, if it is another one.
    func take(_ information: LinkInformation) -> LinkInformation? {
        var new = information
        new.rssi = nil
        return last.withLock { last in
            defer { last = new }
            return last == new ? nil : new
        }
    }

    func forget() { last.withLock { $0 = nil } }
}

/// How many go through sequences of one kind.
final class WatcherCount: Sendable {
    private let count = Mutex(0)

    func begin() { count.withLock { $0 += 1 } }

    /// Says whether it was the last one.
    func end() -> Bool {
        count.withLock { count in
            count -= 1
            return count == 0
        }
    }
}
