import ServiceMessages
import Synchronization

/// The app's end of a channel, as the connection to the service sees it.
protocol ChannelReceiver: AnyObject, Sendable {
    /// Handles an event of the channel, on any thread.
    func receive(_ event: ChannelEvent)
}

/// The channels of one manager that the app holds, by their numbers at the service.
final class ChannelRegistry: Sendable {
    private struct Entry {
        weak var receiver: (any ChannelReceiver)?
    }

    private let entries = Mutex<[ChannelID: Entry]>([:])

    /// Adds a channel that was just opened. The registry does not retain it.
    func add(_ receiver: any ChannelReceiver, as id: ChannelID) {
        entries.withLock {
            $0 = $0.filter { $0.value.receiver != nil }
            $0[id] = Entry(receiver: receiver)
        }
    }

    /// Passes an event on to its channel, on any thread.
    func receive(_ event: ChannelEvent, of id: ChannelID) {
        entries.withLock { $0[id]?.receiver }?.receive(event)
    }

    /// Ends all channels, since the manager was released (behaviour 8.8).
    func endAll() {
        for receiver in entries.withLock({ $0.values.compactMap(\.receiver) }) { receiver.receive(.ended(nil)) }
    }
}
