import BluetoothService
import Synchronization

/// The channels of one manager that the app holds, by their numbers at the service.
final class ChannelRegistry: Sendable {
    private struct Entry {
        weak var pipe: ChannelPipe?
    }

    private let entries = Mutex<[ChannelID: Entry]>([:])

    /// Creates the pipe of a channel that was just opened.
    func pipe(_ id: ChannelID, link: ManagerLink) -> ChannelPipe {
        let pipe = ChannelPipe(id, link: link)
        entries.withLock {
            $0 = $0.filter { $0.value.pipe != nil }
            $0[id] = Entry(pipe: pipe)
        }
        return pipe
    }

    /// Handles an event of a channel, on any thread.
    func take(_ event: ChannelEvent, of id: ChannelID) {
        entries.withLock { $0[id]?.pipe }?.take(event)
    }

    /// Ends all channels, since the manager was released (behaviour 8.8).
    func endAll() {
        for pipe in entries.withLock({ $0.values.compactMap(\.pipe) }) { pipe.take(.ended(nil)) }
    }
}
