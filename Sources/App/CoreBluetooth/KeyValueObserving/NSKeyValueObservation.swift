import Foundation
import Synchronization

// Foundation for Linux has no key-value observing. This is the part that the objects of Core Bluetooth need, under the
// names that Foundation has for it on Apple's systems.

/// The objects whose properties can be observed: ``CBManager``, ``CBPeer``, ``CBAttribute`` and their subclasses.
public protocol _KeyValueCodingAndObserving: AnyObject {}

/// The values that an observer is told, and when.
public struct NSKeyValueObservingOptions: OptionSet, Hashable, Sendable {
    /// The options as bits.
    public let rawValue: UInt

    /// Creates options from bits.
    public init(rawValue: UInt) { self.rawValue = rawValue }

    /// The value after the change.
    public static let new = NSKeyValueObservingOptions(rawValue: 1)
    /// The value before the change.
    public static let old = NSKeyValueObservingOptions(rawValue: 2)
    /// The present value, at once and before `observe` returns.
    public static let initial = NSKeyValueObservingOptions(rawValue: 4)
}

/// How a property changed.
public enum NSKeyValueChange: UInt, Sendable {
    /// It has another value.
    case setting = 1
    /// Values were added to it. Core Bluetooth never reports this.
    case insertion = 2
    /// Values were removed from it. Core Bluetooth never reports this.
    case removal = 3
    /// Values of it were replaced. Core Bluetooth never reports this.
    case replacement = 4
}

/// A change of an observed property.
public struct NSKeyValueObservedChange<Value> {
    /// The kind of the change.
    public typealias Kind = NSKeyValueChange

    /// Always `setting`, since Core Bluetooth replaces values as a whole.
    public let kind: Kind
    /// The value after the change; nil without the option `new`.
    public let newValue: Value?
    /// The value before the change; nil without the option `old`, and in the initial report.
    public let oldValue: Value?
    /// Always nil, since properties are reported as a whole.
    public let indexes: IndexSet?
    /// Always false, since changes are reported after they were made.
    public let isPrior: Bool
}

extension NSKeyValueObservedChange: Sendable where Value: Sendable {}

/// An observation of a property. It ends when this object is released.
///
/// The methods may be called from any thread.
public final class NSKeyValueObservation: NSObject, @unchecked Sendable {
    // Safe: immutable apart from the weak reference, whose object may be used from any thread.
    private weak let observed: (any KeyValueObserved)?
    private let number: UInt64

    /// - Parameter observed: The object; nil if there was none.
    init(of observed: (any KeyValueObserved)?, _ number: UInt64) {
        self.observed = observed
        self.number = number
    }

    deinit { invalidate() }

    /// Ends the observation. A report that is being delivered on another thread may still arrive.
    public func invalidate() { observed?.keyValues.load()?.remove(number) }
}

extension _KeyValueCodingAndObserving {
    /// Observes a property (behaviour 3.4).
    ///
    /// - Parameters:
    ///   - keyPath: The property, such as `\.state`.
    ///   - options: Which values the reports contain.
    ///   - changeHandler: Called after each change, on the thread that made it: on the manager's queue for changes that
    ///     the system makes, right before the delegate is called, and on the caller's thread for the changes that a
    ///     method of the object makes at once, such as `connecting`. Setting an equal value is no change.
    /// - Returns: The observation, which lasts as long as it is retained.
    public func observe<Value>(
        _ keyPath: KeyPath<Self, Value>,
        options: NSKeyValueObservingOptions = [],
        changeHandler: @escaping (Self, NSKeyValueObservedChange<Value>) -> Void
    ) -> NSKeyValueObservation {
        guard let observed = self as? any KeyValueObserved else {
            preconditionFailure("\(Self.self) cannot be observed: only the classes of Core Bluetooth can on Linux")
        }
        let report = { [weak self] (old: Value?, new: Value) in
            guard let self else { return }
            let new = options.contains(.new) ? new : nil
            changeHandler(self, NSKeyValueObservedChange(new: new, old: options.contains(.old) ? old : nil))
        }
        if options.contains(.initial) { report(nil, self[keyPath: keyPath]) }
        // Nothing retains the object: its observers are a part of it.
        let read = { [unowned self] in self[keyPath: keyPath] as Any }
        let number = observed.keyValues.made().add(read) { old, new in
            if let old = old as? Value, let new = new as? Value { report(old, new) }
        }
        return NSKeyValueObservation(of: observed, number)
    }

    /// Returns the value of a property by its name, such as `identifier`.
    ///
    /// - Parameter key: The name that the property has in Objective-C, such as `RSSI` and `UUID`. Enumerations and sets
    ///   of options are integers. A name that the object does not have ends the program, as it does on Apple's systems.
    public func value(forKey key: String) -> Any? {
        guard let observed = self as? any KeyValueObserved, let value = observed.value(named: key) else {
            preconditionFailure("\(self) has no property of the name \(key)")
        }
        return value
    }
}

// `harald swift --adapt` makes these of `observe` with the path through a property of one's own.
extension NSKeyValueObservation {
    /// Observes a property of an object that another object has.
    ///
    /// On Apple's systems such an observation moves on when the property gets another object. This one stays with the
    /// object that the property has now.
    ///
    /// - Parameters:
    ///   - root: The object that the handler receives. It is not retained.
    ///   - object: Returns the observed object. Called once.
    ///   - keyPath: The property, such as `\.state`.
    ///   - options: Which values the reports contain.
    ///   - changeHandler: Called after each change, as by `observe(_:options:changeHandler:)` of the object.
    /// - Returns: The observation, which lasts as long as it is retained.
    public static func observe<Root: AnyObject, Observed: _KeyValueCodingAndObserving, Value>(
        _ root: Root,
        through object: (Root) -> Observed,
        _ keyPath: KeyPath<Observed, Value>,
        options: NSKeyValueObservingOptions = [],
        changeHandler: @escaping (Root, NSKeyValueObservedChange<Value>) -> Void
    ) -> NSKeyValueObservation {
        object(root).observe(keyPath, options: options) { [weak root] _, change in
            if let root { changeHandler(root, change) }
        }
    }

    /// Observes a property of an object that another object may have. If it has none, there are no reports but that of
    /// the option `initial`, with nil.
    ///
    /// - Parameters:
    ///   - root: The object that the handler receives. It is not retained.
    ///   - object: Returns the observed object, or nil. Called once.
    ///   - keyPath: The property, such as `\.state`.
    ///   - options: Which values the reports contain.
    ///   - changeHandler: Called after each change, as by `observe(_:options:changeHandler:)` of the object.
    /// - Returns: The observation, which lasts as long as it is retained.
    public static func observe<Root: AnyObject, Observed: _KeyValueCodingAndObserving, Value>(
        _ root: Root,
        throughOptional object: (Root) -> Observed?,
        _ keyPath: KeyPath<Observed, Value>,
        options: NSKeyValueObservingOptions = [],
        changeHandler: @escaping (Root, NSKeyValueObservedChange<Value?>) -> Void
    ) -> NSKeyValueObservation {
        guard let observed = object(root) else {
            let change = NSKeyValueObservedChange<Value?>(new: options.contains(.new) ? .some(nil) : nil, old: nil)
            if options.contains(.initial) { changeHandler(root, change) }
            return NSKeyValueObservation(of: nil, 0)
        }
        return observe(root, through: { _ in observed }, keyPath, options: options) { root, change in
            changeHandler(
                root,
                NSKeyValueObservedChange(new: change.newValue.map { $0 }, old: change.oldValue.map { $0 })
            )
        }
    }
}

extension NSKeyValueObservedChange {
    fileprivate init(new: Value?, old: Value?) {
        self.init(kind: .setting, newValue: new, oldValue: old, indexes: nil, isPrior: false)
    }
}
