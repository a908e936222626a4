import Foundation
import Synchronization

// Apple's runtime has a recursive lock for every object. Here a table has one for each object that is in use as a lock.

/// Acquires the lock of an object, waiting while another thread holds it.
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

/// Releases the lock of an object.
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
    /// The number of threads that hold the lock or wait for it.
    var users = 0
}

private let locks = Mutex<[ObjectIdentifier: ObjectLock]>([:])
