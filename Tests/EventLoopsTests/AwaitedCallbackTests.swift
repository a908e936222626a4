import Dispatch
import EventLoops
import Synchronization
import TestBasics
import Testing

/// Callbacks that the loop waits for, on queues that never run them.
@Suite struct AwaitedCallbackTests {
    /// A queue that runs nothing, like a run loop whose thread leaves it between the loop's check and the callback.
    private final class LeftQueue: CallbackQueue {
        private struct State {
            var isRunning = true
            var callbacks: [@Sendable () -> Void] = []
        }

        private let state = Mutex(State())
        private let keeps: Bool
        let isCurrent = false

        /// - Parameter keeps: Whether callbacks stay queued and the queue stands still; otherwise they are dropped,
        ///   and it goes on.
        init(keeps: Bool) {
            self.keeps = keeps
        }

        var isRunning: Bool { state.withLock { $0.isRunning } }

        func async(_ callback: @escaping @Sendable () -> Void) {
            guard keeps else { return }
            state.withLock {
                $0.isRunning = false
                $0.callbacks.append(callback)
            }
        }

        /// Runs the queued callbacks.
        func comeBack() {
            let callbacks = state.withLock { state in
                defer { state.callbacks = [] }
                return state.callbacks
            }
            for callback in callbacks { callback() }
        }
    }

    /// Whether the loop reaches the end of a second.
    private func passes(_ loop: VirtualEventLoop) -> Bool {
        let isOver = DispatchSemaphore(value: 0)
        DispatchQueue(label: "loop").async {
            loop.run(for: .seconds(1))
            isOver.signal()
        }
        return isOver.wait(timeout: .now() + 20) == .success
    }

    @Test(
        "a callback that is never run blocks nothing: its queue was left, or has dropped it",
        arguments: [true, false]
    )
    func aCallbackThatNobodyRuns(isKept: Bool) {
        let loop = VirtualEventLoop()
        let queue = LeftQueue(keeps: isKept)
        let called = Mutex(0)
        let later = Mutex(false)
        loop.schedule(after: .milliseconds(500)) {
            loop.deliver(on: queue) { called.withLock { $0 += 1 } }
            loop.schedule(after: .milliseconds(1)) { later.withLock { $0 = true } }
        }
        #expect(passes(loop))
        #expect(later.withLock { $0 })
        #expect(called.withLock { $0 } == 0)
        queue.comeBack()
        #expect(called.withLock { $0 } == (isKept ? 1 : 0))
    }

    @Test func aCallbackThatComesLateIsNotTakenForAnother() {
        let loop = VirtualEventLoop()
        let (left, good) = (LeftQueue(keeps: true), SerialQueue("good"))
        let times = Mutex<[Int64]>([])
        @Sendable func note() { loop.submitAndWait { times.withLock { $0.append(loop.now.microseconds) } } }
        loop.deliver(on: left) {}
        loop.schedule(after: .milliseconds(1)) {
            loop.deliver(on: good) {
                left.comeBack()
                // The clock stands still until this callback returns.
                for _ in 0..<100 { note() }
            }
        }
        #expect(passes(loop))
        #expect(times.withLock { $0 } == [Int64](repeating: 1_000, count: 100))
    }

    @Test("A loop goes on without a callback that does not return, and says on which queue it is")
    func aBlockedCallback() {
        let loop = VirtualEventLoop(checksForReturn: 60)
        let never = DispatchSemaphore(value: 0)
        let reported = Mutex(0)
        let ran = Mutex(0)
        loop.whenQueueBlocks { _ in reported.withLock { $0 += 1 } }
        let queue = SerialQueue("blocked")
        loop.deliver(on: queue) { never.wait() }
        loop.run(for: .seconds(1))
        loop.schedule(after: .seconds(1)) { ran.withLock { $0 += 1 } }
        loop.run(for: .seconds(2))
        #expect(reported.withLock { $0 } == 1)
        #expect(ran.withLock { $0 } == 1)
        never.signal()
    }

    /// A queue that counts as standing still while its callback runs.
    private final class ShyQueue: CallbackQueue {
        private let looks = Mutex(0)
        private let queue = DispatchQueue(label: "shy")
        private let isLookedAt = DispatchSemaphore(value: 0)
        let isCurrent = false

        var isRunning: Bool {
            looks.withLock { looks in
                looks += 1
                if looks == 20 { isLookedAt.signal() }
                return looks == 1
            }
        }

        func async(_ callback: @escaping @Sendable () -> Void) { queue.async(execute: callback) }

        /// Waits until the queue has been polled often.
        func stay() -> Bool { isLookedAt.wait(timeout: .now() + 20) == .success }
    }

    @Test func aCallbackThatHasBegunIsWaitedFor() {
        let loop = VirtualEventLoop()
        let queue = ShyQueue()
        let order = Mutex<[String]>([])
        loop.deliver(on: queue) {
            #expect(queue.stay())
            order.withLock { $0.append("callback") }
        }
        loop.schedule(after: .microseconds(1)) { order.withLock { $0.append("task") } }
        #expect(passes(loop))
        #expect(order.withLock { $0 } == ["callback", "task"])
    }
}
