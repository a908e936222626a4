import Synchronization

/// The listeners of a manager or a peripheral in other modules of this package. They are called after the delegate.
///
/// All methods may be called from any thread.
package final class Listeners<Update: Sendable>: Sendable {
    /// The number of a listener, for ``remove(_:)``.
    package typealias Registration = UInt64

    private struct State {
        var last: Registration = 0
        var listeners: [(registration: Registration, receive: @Sendable (Update) -> Void)] = []
    }

    private let state = Mutex(State())

    init() {}

    /// Adds a listener for all events from now on. Listeners are called in the order in which they were added.
    @discardableResult
    package func add(_ receive: @escaping @Sendable (Update) -> Void) -> Registration {
        state.withLock {
            $0.last += 1
            $0.listeners.append(($0.last, receive))
            return $0.last
        }
    }

    /// Whether there is no listener.
    var isEmpty: Bool { state.withLock { $0.listeners.isEmpty } }

    /// Removes a listener. An event that is being delivered right now may still reach it.
    package func remove(_ registration: Registration) {
        state.withLock { $0.listeners.removeAll { $0.registration == registration } }
    }

    /// Calls all listeners on the calling thread, in the order in which they were added.
    func notify(_ update: Update) {
        for listener in state.withLock({ $0.listeners }) { listener.receive(update) }
    }
}

/// State that another module of this package attaches to one object of the API: one object, created on first use.
package final class Annex: Sendable {
    private let content = Mutex<(any AnyObject & Sendable)?>(nil)

    init() {}

    /// Returns the object, after creating it on first use.
    package func content<Content: AnyObject & Sendable>(_ make: () -> Content) -> Content {
        content.withLock {
            if let known = $0 as? Content { return known }
            let new = make()
            $0 = new
            return new
        }
    }
}
