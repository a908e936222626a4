import EventLoops
import Synchronization

/// Where the events of one manager come out, in the app's process.
package final class EventOutlet: EventSink {
    private let queue: any CallbackQueue
    private let handler: @Sendable (Event) -> Void
    private let isOpen = Atomic(true)
    private let countsEvents: Bool
    private let read = Atomic<UInt64>(0)

    /// Events that `handler` takes, on `queue`.
    ///
    /// - Parameter countsEvents: Whether to count those that `handler` has been called with.
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

    /// Takes an event. On the loop only.
    package func take(_ event: Event, on loop: any EventLoop) { take(event, on: loop, onRead: {}) }

    /// Takes an event. On the loop only.
    ///
    /// - Parameter onRead: Called on the queue right before the app is.
    package func take(_ event: Event, on loop: any EventLoop, onRead: @escaping @Sendable () -> Void) {
        guard isOpen.load(ordering: .relaxed) else { return }
        // Streams have run loops of their own.
        if case .channel = event { return handler(event) }
        // Asked again on the queue: events on their way when the manager closes are for nobody.
        loop.deliver(on: queue) { [self] in
            guard isOpen.load(ordering: .acquiring) else { return }
            if countsEvents { read.add(1, ordering: .acquiringAndReleasing) }
            onRead()
            handler(event)
        }
    }

    /// Sends an event where there is no loop. From any thread.
    package func send(_ event: Event) {
        call { [handler] in handler(event) }
    }

    /// Calls the app where there is no loop. From any thread.
    package func call(_ body: @escaping @Sendable () -> Void) {
        queue.async { [self] in
            if isOpen.load(ordering: .acquiring) { body() }
        }
    }

    /// Calls the app, in order with its events. On the loop only.
    package func call(_ body: @escaping @Sendable () -> Void, on loop: any EventLoop) {
        loop.deliver(on: queue) { [self] in
            if isOpen.load(ordering: .acquiring) { body() }
        }
    }

    /// Nothing comes out any more. From any thread.
    package func close() {
        isOpen.store(false, ordering: .releasing)
    }
}
