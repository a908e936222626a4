import Foundation
import Synchronization

// Apple's runtime keeps a lock for any object; here a table does while somebody is inside. A thread that is inside may enter again.

/// Waits until no other thread is inside with this object.
@discardableResult
public func objc_sync_enter(_ object: Any) -> Int32 {
    let identifier = ObjectIdentifier(object as AnyObject)
    let lock = locks.withLock { locks in
        locks[identifier, default: ObjectLock()].users += 1
        return locks[identifier, default: ObjectLock()].lock
    }
    lock.lock()
    return 0
}

/// Lets the next thread in.
@discardableResult
public func objc_sync_exit(_ object: Any) -> Int32 {
    let identifier = ObjectIdentifier(object as AnyObject)
    let lock = locks.withLock { locks -> NSRecursiveLock? in
        guard var entry = locks[identifier] else { return nil }
        entry.users -= 1
        locks[identifier] = entry.users == 0 ? nil : entry
        return entry.lock
    }
    lock?.unlock()
    return 0
}

private struct ObjectLock {
    let lock = NSRecursiveLock()
    /// How many are inside or wait.
    var users = 0
}

private let locks = Mutex<[ObjectIdentifier: ObjectLock]>([:])
