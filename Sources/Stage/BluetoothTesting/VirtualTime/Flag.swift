import Synchronization

/// A flag that is set once, from any thread.
final class Flag: Sendable {
    private let value = Atomic(false)

    var isSet: Bool { value.load(ordering: .acquiring) }

    /// Sets the flag. Returns whether it was not set before.
    func set() -> Bool { !value.exchange(true, ordering: .acquiringAndReleasing) }

    func clear() -> Bool { value.exchange(false, ordering: .acquiringAndReleasing) }
}
