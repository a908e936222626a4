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

    private func duration(_ body: () -> Void) -> Duration { ContinuousClock().measure(body) }

    private final class Flags: Sendable {
        private let value = Atomic(true)
        var isSet: Bool { value.load(ordering: .relaxed) }
        func clear() { value.store(false, ordering: .relaxed) }
    }
}
