import CoreBluetooth
import Dispatch
import Synchronization
import Testing

@Suite struct AppQueueTests {
    /// Several managers on the main queue, each with its own wrapper: a simulation that runs there must not wait for
    /// it.
    @Test @MainActor func eachManagersMainQueueIsTheMainQueue() {
        let queues = (0..<3).map { _ in AppQueue(.main) }
        for queue in queues { #expect(queue.isCurrent) }
        let other = AppQueue(DispatchQueue(label: "other"))
        #expect(!other.isCurrent)
        let isThere = other.queue.sync { other.isCurrent }
        #expect(isThere)
    }

    @Test func otherQueuesAreNotTheMainQueue() {
        let main = AppQueue(.main)
        let isThere = DispatchQueue(label: "other").sync { main.isCurrent }
        #expect(!isThere)
    }

    /// Suspends a queue while `body` runs, so that callbacks accumulate.
    private func gathering(_ body: (AppQueue, DispatchQueue) -> Void) -> DispatchQueue {
        let queue = DispatchQueue(label: "app")
        queue.suspend()
        body(AppQueue(queue), queue)
        queue.resume()
        return queue
    }

    @Test func burstsRunInOrderThenYield() {
        let seen = Mutex<[Int]>([])
        let burst = 64
        let done = DispatchSemaphore(value: 0)
        _ = gathering { callbacks, queue in
            for number in 0...burst {
                callbacks.async {
                    seen.withLock { $0.append(number) }
                    if number == burst { done.signal() }
                }
            }
            queue.async { seen.withLock { $0.append(-1) } }
        }
        #expect(done.wait(timeout: .now() + 60) == .success)
        #expect(seen.withLock { $0 } == Array(0..<burst) + [-1, burst])
    }

    @Test func nestedCallbacksRunAfterwards() {
        let seen = Mutex<[Int]>([])
        let done = DispatchSemaphore(value: 0)
        let callbacks = AppQueue(DispatchQueue(label: "app"))
        callbacks.async {
            callbacks.async {
                seen.withLock { $0.append(2) }
                done.signal()
            }
            seen.withLock { $0.append(1) }
        }
        #expect(done.wait(timeout: .now() + 60) == .success)
        #expect(seen.withLock { $0 } == [1, 2])
    }

    /// The service releases its end while a callback is in flight.
    @Test func queuedCallbacksRunAfterTheQueueIsReleased() {
        let done = DispatchSemaphore(value: 0)
        weak var gone: AppQueue?
        let queue = gathering { callbacks, _ in
            gone = callbacks
            callbacks.async { done.signal() }
        }
        #expect(done.wait(timeout: .now() + 60) == .success)
        queue.sync {}
        #expect(gone == nil)
    }

    @Test func aConcurrentQueueCallsOneAfterTheOther() {
        let seen = Mutex<[Int]>([])
        let done = DispatchSemaphore(value: 0)
        let callbacks = AppQueue(DispatchQueue(label: "app", attributes: .concurrent))
        for number in 0..<1_000 {
            callbacks.async {
                seen.withLock { $0.append(number) }
                if number == 999 { done.signal() }
            }
        }
        #expect(done.wait(timeout: .now() + 60) == .success)
        #expect(seen.withLock { $0 } == Array(0..<1_000))
    }
}
