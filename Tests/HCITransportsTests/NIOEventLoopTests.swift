import Dispatch
import EventLoops
import HCITransports
import Synchronization
import TestBasics
import Testing

@Suite struct NIOEventLoopTests {
    /// A callback queue that runs callbacks immediately, so that their place among the tasks shows.
    private struct Here: CallbackQueue {
        var isCurrent: Bool { false }
        func async(_ callback: @escaping @Sendable () -> Void) { callback() }
    }

    /// Returns a loop that is blocked while `body` runs.
    private func held(_ body: (NIOEventLoop) -> Void) -> NIOEventLoop {
        let (loop, go) = (NIOEventLoop(), DispatchSemaphore(value: 0))
        loop.submit { go.wait() }
        body(loop)
        go.signal()
        return loop
    }

    @Test func whatComesTogetherIsOneArrival() {
        let record = Notes<String>()
        let times = Mutex<Set<Instant>>([])
        let loop = held { loop in
            for number in 0..<3 {
                loop.submit {
                    record.add("task \(number)")
                    times.withLock { _ = $0.insert(loop.now) }
                    loop.deliver(on: Here()) { record.add("callback \(number)") }
                    loop.execute { record.add("due \(number)") }
                }
            }
        }
        loop.submitAndWait { record.add("waited for") }
        #expect(
            record.all == [
                "task 0", "task 1", "task 2", "due 0", "due 1", "due 2", "callback 0", "callback 1", "callback 2",
                "waited for",
            ]
        )
        #expect(times.withLock { $0.count } == 1)
        loop.shutDown()
    }

    @Test func whatIsWaitedForComesBehindWhatWasSubmitted() {
        let (record, count) = (Notes<String>(), 10_000)
        let loop = NIOEventLoop()
        for number in 0..<count {
            loop.submit { record.add("\(number)") }
            if number % 1_000 == 999 { loop.submitAndWait { #expect(record.all.count == number + 1) } }
        }
        #expect(record.all == (0..<count).map { "\($0)" })
        loop.shutDown()
    }

    @Test("AB-G05: reports that a transport makes inside a task run after it, in order, at the same time")
    func whatIsReportedInsideATaskRunsAfterIt() {
        let record = Notes<String>()
        let times = Mutex<Set<Instant>>([])
        let loop = NIOEventLoop()
        loop.submit {
            loop.execute { record.add("due") }
            for number in 0..<3 {
                loop.arrive {
                    record.add("report \(number)")
                    times.withLock { _ = $0.insert(loop.now) }
                    if number == 0 { loop.arrive { record.add("report 3") } }
                }
            }
            times.withLock { _ = $0.insert(loop.now) }
            record.add("end of the task")
        }
        loop.submitAndWait {}
        #expect(record.all == ["end of the task", "due", "report 0", "report 1", "report 2", "report 3"])
        #expect(times.withLock { $0.count } == 1)
        loop.shutDown()
    }

    @Test func whatATaskSubmitsComesInATurnOfItsOwn() {
        let record = Notes<String>()
        let loop = NIOEventLoop()
        loop.submitAndWait {
            loop.submit { record.add("submitted") }
            loop.execute { record.add("due") }
        }
        loop.submitAndWait {}
        #expect(record.all == ["due", "submitted"])
        loop.shutDown()
    }
}
