import Foundation
import Synchronization

/// The observers of one object's properties.
///
/// All methods may be called from any thread.
final class KeyValueObservers: Sendable {
    /// One observed property, with the value that was reported last.
    private final class Observer: @unchecked Sendable {
        // Safe: the handler belongs to the app, which expects it on whichever thread changes the property, as with
        // Apple's key-value observing. The last value is in a mutex.
        private struct Content: @unchecked Sendable {
            var last: Any
        }

        private let content: Mutex<Content>
        private let read: () -> Any
        private let report: (_ old: Any, _ new: Any) -> Void

        init(_ read: @escaping () -> Any, _ report: @escaping (_ old: Any, _ new: Any) -> Void) {
            content = Mutex(Content(last: read()))
            self.read = read
            self.report = report
        }

        func check() {
            let new = read()
            let old: Content? = content.withLock { content in
                guard !Self.areSame(content.last, new) else { return nil }
                defer { content = Content(last: new) }
                return content
            }
            if let old { report(old.last, new) }
        }

        /// Whether two values are equal. Values that cannot be compared never are.
        private static func areSame(_ one: Any, _ other: Any) -> Bool {
            func compare<Value: Equatable>(_ one: Value) -> Bool { one == other as? Value }
            guard let one = one as? any Equatable else { return false }
            return compare(one)
        }
    }

    private struct State {
        var last: UInt64 = 0
        var observers: [(number: UInt64, observer: Observer)] = []
    }

    private let state = Mutex(State())

    /// Observes a property.
    ///
    /// - Parameters:
    ///   - read: Returns the current value. Called on any thread.
    ///   - report: Receives the values before and after a change, on the thread that made it.
    /// - Returns: The number of the observer, for ``remove(_:)``.
    func add(_ read: @escaping () -> Any, _ report: @escaping (_ old: Any, _ new: Any) -> Void) -> UInt64 {
        let observer = Observer(read, report)
        return state.withLock { state in
            state.last += 1
            state.observers.append((state.last, observer))
            return state.last
        }
    }

    /// Ends an observation. A report that is being delivered may still arrive.
    func remove(_ number: UInt64) {
        state.withLock { $0.observers.removeAll { $0.number == number } }
    }

    /// Reports the properties that have changed. To be called after each change, and without a lock, since observers
    /// read the properties.
    func check() {
        for (_, observer) in state.withLock({ $0.observers }) { observer.check() }
    }
}

/// The observers of an object, which has none until the first is added.
typealias LazyKeyValueObservers = AtomicLazyReference<KeyValueObservers>

extension AtomicLazyReference<KeyValueObservers> {
    /// Returns the observers, after creating them on first use.
    func made() -> KeyValueObservers { load() ?? storeIfNil(KeyValueObservers()) }

    /// Reports the properties that have changed; see ``KeyValueObservers/check()``.
    func check() { load()?.check() }
}

/// An object whose properties can be observed and read by name.
protocol KeyValueObserved: _KeyValueCodingAndObserving {
    var keyValues: LazyKeyValueObservers { get }

    /// Returns the value of a property by the name that Objective-C has for it. Nil if there is no such property.
    func value(named name: String) -> Any??
}
