import EventLoops
import Synchronization

/// Where the events of one manager come out, in the app's process.
package final class EventOutlet: EventSink {
    private let queue: any CallbackQueue
    private let handler: @Sendable (Event) -> Void
    private let isOpen = Atomic(true)

    /// Events that `handler` takes, on `queue`.
    package init(queue: any CallbackQueue, handler: @escaping @Sendable (Event) -> Void) {
        self.queue = queue
        self.handler = handler
    }

    /// Takes an event. On the loop only.
    package func take(_ event: Event, on loop: any EventLoop) {
        guard isOpen.load(ordering: .relaxed) else { return }
        // Streams have run loops of their own.
        if case .channel = event { return handler(event) }
        // Asked again on the queue: events on their way when the manager closes are for nobody.
        loop.deliver(on: queue) { [self] in
            if isOpen.load(ordering: .acquiring) { handler(event) }
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
