import CoreBluetooth
import ServiceMessages
import Synchronization

extension CBPeripheral {
    /// Reads the parameters of the link and its signal strength (behaviour 15.4).
    ///
    /// - Parameter deadline: The time limit, by the clock of the service. Nil for none.
    /// - Returns: The present parameters.
    /// - Throws: `CBError`, ``ExtrasError/deadlinePassed`` or `CancellationError`.
    public func linkInformation(deadline: Duration? = nil) async throws -> LinkInformation {
        let event = try await answer(to: .readLinkInformation, within: deadline)
        guard case .linkInformation(let facts) = event else { throw event.isNoAnswer }
        return LinkInformation(facts)
    }

    /// A new stream of the link's parameters: the present ones, and each change (behaviour 15.4).
    ///
    /// The stream outlasts a disconnection, and starts anew with the next connection. The service reports changes only
    /// while there is such a stream. ``LinkInformation/rssi`` is nil in it.
    public var linkChanges: EventStream<LinkInformation> {
        let watchers = asynchronous.linkWatchers
        let last = LastLink()
        let (stream, source) = EventStream<LinkInformation>.make()
        let registration = updates.add { [weak self] update in
            switch update {
            case .told(.linkInformation(let facts)):
                if let new = last.replace(by: LinkInformation(facts)) { source.send(new) }
            case .connected:
                last.forget()
                self?.tell(.watchLink(true))
            case .disconnected, .connectionFailed, .servicesModified, .told: break
            }
        }
        watchers.begin()
        source.onEnd { [self] in
            updates.remove(registration)
            if watchers.end() { tell(.watchLink(false)) }
        }
        tell(.watchLink(true))
        return stream
    }

    /// Requests parameters for the link, as a hint.
    ///
    /// The two devices decide, and there is no response: ``linkChanges`` shows the outcome. Without a connection the
    /// call has no effect.
    ///
    /// - Parameter wish: The desired parameters.
    public func prefer(_ wish: LinkWish) { tell(.preferLink(LinkPreference(wish))) }
}

/// The parameters that a stream has reported last. Where another stream has started, the service repeats them to all
/// streams, which is no change.
private final class LastLink: Sendable {
    private let last = Mutex<LinkInformation?>(nil)

    /// Returns the parameters without the signal strength, or nil if they have not changed.
    func replace(by information: LinkInformation) -> LinkInformation? {
        var new = information
        new.rssi = nil
        return last.withLock { last in
            defer { last = new }
            return last == new ? nil : new
        }
    }

    func forget() { last.withLock { $0 = nil } }
}

/// The number of open streams of one kind.
final class WatcherCount: Sendable {
    private let count = Mutex(0)

    func begin() { count.withLock { $0 += 1 } }

    /// Returns whether it was the last one.
    func end() -> Bool {
        count.withLock { count in
            count -= 1
            return count == 0
        }
    }
}
