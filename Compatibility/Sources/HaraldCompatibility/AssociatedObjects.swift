import Foundation
import Synchronization

// Apple's runtime releases an association with its object. Here a table has them, and forgets those of objects that are
// gone when it grows.

/// How an association holds its value.
public enum objc_AssociationPolicy: UInt, Sendable {
    case OBJC_ASSOCIATION_ASSIGN = 0
    case OBJC_ASSOCIATION_RETAIN_NONATOMIC = 1
    case OBJC_ASSOCIATION_COPY_NONATOMIC = 3
    case OBJC_ASSOCIATION_RETAIN = 0x301
    case OBJC_ASSOCIATION_COPY = 0x303
}

/// Returns the value that is associated with an object under a key; nil if there is none.
public func objc_getAssociatedObject(_ object: Any, _ key: UnsafeRawPointer) -> Any? {
    let object = object as AnyObject
    return associations.withLock { $0[object]?.values[UInt(bitPattern: key)]?() }
}

/// Associates a value with an object under a key, or removes it with nil.
public func objc_setAssociatedObject(
    _ object: Any,
    _ key: UnsafeRawPointer,
    _ value: Any?,
    _ policy: objc_AssociationPolicy
) {
    let object = object as AnyObject
    let held = value.map { policy.hold($0) }
    // Released outside of the lock, since it may use associations itself.
    let old = associations.withLock { $0.set(held, UInt(bitPattern: key), of: object) }
    withExtendedLifetime(old) {}
}

/// Removes all associations of an object.
public func objc_removeAssociatedObjects(_ object: Any) {
    let object = object as AnyObject
    let old = associations.withLock { $0.removeAll(of: object) }
    withExtendedLifetime(old) {}
}

extension objc_AssociationPolicy {
    /// Returns a function that returns the value for as long as the association holds it.
    fileprivate func hold(_ value: Any) -> () -> Any? {
        switch self {
        case .OBJC_ASSOCIATION_ASSIGN:
            weak let object = value as AnyObject
            return { object }
        case .OBJC_ASSOCIATION_COPY, .OBJC_ASSOCIATION_COPY_NONATOMIC:
            let copy = (value as? any NSCopying)?.copy(with: nil) ?? value
            return { copy }
        case .OBJC_ASSOCIATION_RETAIN, .OBJC_ASSOCIATION_RETAIN_NONATOMIC: return { value }
        }
    }
}

private struct Associations: Sendable {
    // Safe: as with Apple's runtime, the app sees to the threads on which it uses the values.
    struct Entry: @unchecked Sendable {
        /// Nil once the object is gone, whose address another one may have.
        weak var object: AnyObject?
        var values: [UInt: () -> Any?] = [:]
    }

    private var entries: [ObjectIdentifier: Entry] = [:]
    /// The number of objects at which to forget those that are gone.
    private var limit = 64

    subscript(object: AnyObject) -> Entry? {
        entries[ObjectIdentifier(object)].flatMap { $0.object === object ? $0 : nil }
    }

    /// Returns what it no longer holds.
    mutating func set(_ value: (() -> Any?)?, _ key: UInt, of object: AnyObject) -> [Entry] {
        var dropped = [entries[ObjectIdentifier(object)]].compactMap { $0 }
        var entry = self[object] ?? Entry(object: object)
        entry.values[key] = value
        entries[ObjectIdentifier(object)] = entry.values.isEmpty ? nil : entry
        if entries.count > limit {
            dropped += entries.values.filter { $0.object == nil }
            entries = entries.filter { $0.value.object != nil }
            limit = max(64, 2 * entries.count)
        }
        return dropped
    }

    mutating func removeAll(of object: AnyObject) -> Entry? { entries.removeValue(forKey: ObjectIdentifier(object)) }
}

private let associations = Mutex(Associations())
