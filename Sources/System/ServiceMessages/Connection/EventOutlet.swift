import EventLoops
import Synchronization

/// Delivers the events of one manager in the app's process.
package final class EventOutlet: EventSink {
    private let queue: any CallbackQueue
    private let handler: @Sendable (Event) -> Void
    private let isOpen = Atomic(true)
    private let countsEvents: Bool
    private let read = Atomic<UInt64>(0)

    /// Creates an outlet that calls `handler` on `queue`.
    ///
    /// - Parameter countsEvents: Whether to count the events passed to `handler`.
    package init(
        queue: any CallbackQueue,
        countsEvents: Bool = false,
        handler: @escaping @Sendable (Event) -> Void
    ) {
        self.queue = queue
        self.countsEvents = countsEvents
        self.handler = handler
    }

    /// See ``EventSink/eventsRead``.
    package var eventsRead: UInt64? { countsEvents ? read.load(ordering: .acquiring) : nil }

    /// Delivers an event. On the loop only.
    package func accept(_ event: Event, on loop: any EventLoop) { accept(event, on: loop, onRead: {}) }

    /// Delivers an event. On the loop only.
    ///
    /// - Parameter onRead: Called on the queue, right before the app's handler.
    package func accept(_ event: Event, on loop: any EventLoop, onRead: @escaping @Sendable () -> Void) {
        guard isOpen.load(ordering: .relaxed) else { return }
        // Streams have run loops of their own.
        if case .channel = event { return handler(event) }
        // Checked again on the queue, to discard events that were in flight when the manager closed.
        loop.deliver(on: queue) { [self] in
            guard isOpen.load(ordering: .acquiring) else { return }
            if countsEvents { read.add(1, ordering: .acquiringAndReleasing) }
            onRead()
            handler(event)
        }
    }

    /// Calls `body` on the queue, where there is no loop. From any thread.
    package func call(_ body: @escaping @Sendable () -> Void) {
        queue.async { [self] in
            if isOpen.load(ordering: .acquiring) { body() }
        }
    }

    /// Calls `body` on the queue, in order with the events. On the loop only.
    package func call(_ body: @escaping @Sendable () -> Void, on loop: any EventLoop) {
        loop.deliver(on: queue) { [self] in
            if isOpen.load(ordering: .acquiring) { body() }
        }
    }

    /// Stops all delivery. From any thread.
    package func close() {
        isOpen.store(false, ordering: .releasing)
    }
}

/// Carries the events of a manager to its app.
package protocol EventSink: AnyObject, Sendable {
    /// Whether the sink accepts events now. A sink without room is attached again when it has room. On the loop only.
    var hasRoom: Bool { get }
    /// The number of events passed to the app, of those that this sink has accepted. Nil for a sink that does not
    /// count, whose events are read as soon as it accepts them. Channel events do not count. On the loop only.
    var eventsRead: UInt64? { get }
    /// Accepts an event. Events arrive in order. On the loop only.
    func accept(_ event: Event, on loop: any EventLoop)
}

extension EventSink {
    /// A sink within the process always has room.
    package var hasRoom: Bool { true }
    /// By default a sink does not count.
    package var eventsRead: UInt64? { nil }
}
