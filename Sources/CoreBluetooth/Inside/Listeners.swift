import Synchronization

/// Who hears what comes to a manager or a peripheral besides its delegate, and after it: other modules of this package. Everything may
/// be called from any thread.
package final class Listeners<Happening: Sendable>: Sendable {
    /// Names a listener.
    package typealias Registration = UInt64

    private struct State {
        var last: Registration = 0
        var listeners: [(registration: Registration, take: @Sendable (Happening) -> Void)] = []
    }

    private let state = Mutex(State())

    init() {}

    /// Adds a listener, who hears of what happens from now on, after those before.
    @discardableResult
    package func add(_ take: @escaping @Sendable (Happening) -> Void) -> Registration {
        state.withLock {
            $0.last += 1
            $0.listeners.append(($0.last, take))
            return $0.last
        }
    }

    /// Takes a listener out. What is being told at this moment may still reach it.
    package func remove(_ registration: Registration) {
        state.withLock { $0.listeners.removeAll { $0.registration == registration } }
    }

    /// Tells all.
    func tell(_ happening: Happening) {
        for listener in state.withLock({ $0.listeners }) { listener.take(happening) }
    }
}

/// Where another module of this package keeps what belongs to one object of the API: one thing, made when it is first asked for.
package final class Annex: Sendable {
    private let content = Mutex<(any AnyObject & Sendable)?>(nil)

    init() {}

    /// The thing.
    package func content<Content: AnyObject & Sendable>(_ make: () -> Content) -> Content {
        content.withLock {
            if let known = $0 as? Content { return known }
            let new = make()
            $0 = new
            return new
        }
    }
}
