import Dispatch
import Testing
import os

@Suite("A lock and the state it protects")
struct LockTests {
    @Test("concurrent additions to one number are not lost")
    func protection() {
        let sum = OSAllocatedUnfairLock(initialState: 0)
        DispatchQueue.concurrentPerform(iterations: 8) { _ in
            for _ in 0..<10_000 { sum.withLock { $0 += 1 } }
        }
        #expect(sum.withLock { $0 } == 80_000)
    }

    @Test("a copy shares the lock, and a held lock is not available")
    func copies() {
        let lock = OSAllocatedUnfairLock()
        let copy = lock
        lock.lock()
        #expect(!copy.lockIfAvailable() && copy.withLockIfAvailable { true } == nil)
        lock.unlock()
        #expect(copy.withLockIfAvailable { true } == true)
    }

    @Test("an error releases the lock")
    func errors() {
        struct Failure: Error {}
        let lock = OSAllocatedUnfairLock(initialState: 1)
        #expect(throws: Failure.self) { try lock.withLock { _ in throw Failure() } }
        #expect(lock.withLockIfAvailable { $0 } == 1)
    }
}
