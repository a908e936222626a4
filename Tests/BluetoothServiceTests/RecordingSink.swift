import EventLoops
import ServiceMessages
import Synchronization

/// An event sink that records what it receives. It always has room, and does not count.
final class RecordingSink: EventSink {
    private let events = Mutex<[Event]>([])

    var taken: [Event] { events.withLock { $0 } }

    func accept(_ event: Event, on loop: any EventLoop) { events.withLock { $0.append(event) } }
}
