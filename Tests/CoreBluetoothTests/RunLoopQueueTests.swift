import EventLoops
import Foundation
import Synchronization
import Testing

@testable import CoreBluetooth

/// Run loops as callback queues that a loop in virtual time waits for.
@Suite struct RunLoopQueueTests {
    /// A queue that forwards callbacks to another, and signals that it has.
    private struct Watched: CallbackQueue {
        let queue: RunLoopQueue
        let asked: DispatchSemaphore

        var isCurrent: Bool { queue.isCurrent }
        var isRunning: Bool { queue.isRunning }

        func async(_ callback: @escaping @Sendable () -> Void) {
            queue.async(callback)
            asked.signal()
        }
    }

    /// A thread whose run loop is busy until the test releases it.
    private final class BusyThread: @unchecked Sendable {
        // Safe: set before the thread signals that it runs.
        private(set) var queue: RunLoopQueue!
        private let isThere = DispatchSemaphore(value: 0)
        private let mayGo = DispatchSemaphore(value: 0)

        init() {
            let thread = Thread { [self] in
                queue = RunLoopQueue(.current, .default)
                let busy = Timer(fire: Date(), interval: 0, repeats: false) { [self] _ in
                    isThere.signal()
                    mayGo.wait()
                }
                RunLoop.current.add(busy, forMode: .default)
                // The run loop returns when it has nothing left to wait for.
                RunLoop.current.run()
            }
            thread.start()
            isThere.wait()
        }

        func goOn() { mayGo.signal() }
    }

    private final class Flag: Sendable {
        let isSet = Mutex(false)
    }

    /// Delivers a callback to a busy thread, calls `meanwhile` while it is in flight, and returns whether the loop
    /// continues, and whether the callback had run by then.
    private func deliver(to thread: BusyThread, meanwhile: () -> Void) -> (goesOn: Bool, isCalled: Bool) {
        let loop = VirtualEventLoop()
        let (asked, isOver) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
        let called = Flag()
        loop.deliver(on: Watched(queue: thread.queue, asked: asked)) { called.isSet.withLock { $0 = true } }
        DispatchQueue(label: "loop").async {
            loop.run(for: .seconds(1))
            isOver.signal()
        }
        guard asked.wait(timeout: .now() + 20) == .success else { return (false, false) }
        meanwhile()
        let goesOn = isOver.wait(timeout: .now() + 20) == .success
        return (goesOn, called.isSet.withLock { $0 })
    }

    @Test func aCallbackOfAQueueThatEndsIsNotWaitedFor() {
        let thread = BusyThread()
        #expect(deliver(to: thread) { thread.queue.end() } == (true, false))
        thread.goOn()
    }

    @Test func aCallbackThatTheRunLoopComesToIsWaitedFor() {
        let thread = BusyThread()
        #expect(deliver(to: thread) { thread.goOn() } == (true, true))
        thread.queue.end()
    }
}
