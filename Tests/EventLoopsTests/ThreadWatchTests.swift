import Foundation
import Synchronization
import Testing

@testable import EventLoops

@Suite struct ThreadWatchTests {
    @Test("a thread that never waits is given up, until it was seen waiting")
    func aBusyThreadIsGivenUp() {
        let watch = ThreadWatch(limit: .milliseconds(20))
        let (isBusy, isThere, goOn, ended) = (
            Flags(), DispatchSemaphore(value: 0), DispatchSemaphore(value: 0), DispatchSemaphore(value: 0)
        )
        Thread.detachNewThread {
            watch.addCurrent()
            isThere.signal()
            while isBusy.isSet {}
            goOn.wait()
            watch.removeCurrent()
            ended.signal()
        }
        isThere.wait()
        #expect(watch.haveAny)
        let first = duration { watch.settle { false } }
        #expect(first >= .milliseconds(20))
        // It does not cost that much again.
        let second = duration { for _ in 0..<100 { watch.settle { false } } }
        #expect(second < .seconds(1))
        isBusy.clear()
        goOn.signal()
        ended.wait()
        #expect(!watch.haveAny)
    }

    @Test func aWaitForAThreadIsInterrupted() {
        let watch = ThreadWatch(limit: .seconds(600))
        let (isBusy, isThere) = (Flags(), DispatchSemaphore(value: 0))
        Thread.detachNewThread {
            watch.addCurrent()
            isThere.signal()
            while isBusy.isSet {}
            watch.removeCurrent()
        }
        isThere.wait()
        watch.settle { true }
        isBusy.clear()
    }

    enum Lock: CaseIterable { case ofFoundation, ofPOSIX, ofSwift }

    @Test(
        "a thread that waits for a lock of another one runs, and one that waits for a semaphore does not",
        arguments: Lock.allCases
    )
    func aThreadThatWaitsForALockRuns(kind: Lock) {
        let watch = ThreadWatch(limit: .seconds(600))
        let (isThere, goOn, ended) = (
            DispatchSemaphore(value: 0), DispatchSemaphore(value: 0), DispatchSemaphore(value: 0)
        )
        let lock = AnyLock(kind)
        var polls = 0
        lock.hold {
            Thread.detachNewThread {
                watch.addCurrent()
                isThere.signal()
                lock.hold {}
                goOn.wait()
                watch.removeCurrent()
                ended.signal()
            }
            isThere.wait()
            watch.settle {
                polls += 1
                return polls == 2_000
            }
        }
        #expect(polls == 2_000)
        watch.settle { false }
        goOn.signal()
        ended.wait()
    }

    // Safe: a lock may be used from all threads, and this one lives as long as its owner.
    private final class AnyLock: @unchecked Sendable {
        private let kind: Lock
        private let foundation = NSLock()
        private let swift = Mutex(())
        private let posix = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)

        init(_ kind: Lock) {
            self.kind = kind
            pthread_mutex_init(posix, nil)
        }

        deinit {
            pthread_mutex_destroy(posix)
            posix.deallocate()
        }

        func hold(_ body: () -> Void) {
            switch kind {
            case .ofFoundation: foundation.withLock(body)
            case .ofSwift: swift.withLock { _ in body() }
            case .ofPOSIX:
                pthread_mutex_lock(posix)
                body()
                pthread_mutex_unlock(posix)
            }
        }
    }

    private func duration(_ body: () -> Void) -> Duration { ContinuousClock().measure(body) }

    private final class Flags: Sendable {
        private let value = Atomic(true)
        var isSet: Bool { value.load(ordering: .relaxed) }
        func clear() { value.store(false, ordering: .relaxed) }
    }
}
