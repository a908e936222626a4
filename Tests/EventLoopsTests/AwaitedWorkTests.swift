import Dispatch
import EventLoops
import Synchronization
import Testing

@Suite struct AwaitedWorkTests {
    private final class Order: Sendable {
        private let entries = Mutex<[String]>([])
        var all: [String] { entries.withLock { $0 } }
        func note(_ entry: String) { entries.withLock { $0.append(entry) } }
    }

    @Test func theClockWaitsForWorkAndForItsSubmissions() {
        let (loop, order) = (VirtualEventLoop(), Order())
        let mayGoOn = DispatchSemaphore(value: 0)
        loop.schedule(after: .seconds(1)) { order.note("timer") }
        loop.beginWork()
        DispatchQueue(label: "work").async {
            mayGoOn.wait()
            loop.submit { order.note("submission at \(loop.now.nanoseconds)") }
            loop.endWork()
        }
        // While the loop waits for the work, it runs what others submit.
        loop.submit { mayGoOn.signal() }
        loop.run(for: .seconds(2))
        #expect(order.all == ["submission at 0", "timer"])
    }

    @Test func workMayBeginMoreWork() {
        let (loop, order) = (VirtualEventLoop(), Order())
        loop.schedule(after: .seconds(1)) { order.note("timer") }
        loop.beginWork()
        DispatchQueue(label: "first").async {
            loop.beginWork()
            DispatchQueue(label: "second").async {
                order.note("second")
                loop.endWork()
            }
            loop.endWork()
        }
        loop.run(for: .seconds(2))
        #expect(order.all == ["second", "timer"])
    }

    @Test func otherThreadsSeeTheClock() {
        let loop = VirtualEventLoop()
        let seen = Mutex<[Int64]>([])
        for second in 1...3 {
            loop.schedule(after: .seconds(second)) {
                DispatchQueue(label: "reader").sync { seen.withLock { $0.append(loop.reading.nanoseconds) } }
            }
        }
        loop.run(for: .seconds(5))
        #expect(seen.withLock { $0 } == [1_000_000_000, 2_000_000_000, 3_000_000_000])
        #expect(loop.reading == loop.now)
    }
}
