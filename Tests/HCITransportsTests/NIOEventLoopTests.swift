import Dispatch
import EventLoops
import HCITransports
import Synchronization
import Testing

@Suite struct NIOEventLoopTests {
    /// Records events in order, from any thread.
    private final class Record: Sendable {
        private let state = Mutex<[String]>([])

        func note(_ what: String) { state.withLock { $0.append(what) } }
        var notes: [String] { state.withLock { $0 } }
    }

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
        let record = Record()
        let times = Mutex<Set<Instant>>([])
        let loop = held { loop in
            for number in 0..<3 {
                loop.submit {
                    record.note("task \(number)")
                    times.withLock { _ = $0.insert(loop.now) }
                    loop.deliver(on: Here()) { record.note("callback \(number)") }
                    loop.execute { record.note("due \(number)") }
                }
            }
        }
        loop.submitAndWait { record.note("waited for") }
        #expect(
            record.notes == [
                "task 0", "task 1", "task 2", "due 0", "due 1", "due 2", "callback 0", "callback 1", "callback 2",
                "waited for",
            ]
        )
        #expect(times.withLock { $0.count } == 1)
        loop.shutDown()
    }

    @Test func whatIsWaitedForComesBehindWhatWasSubmitted() {
        let (record, count) = (Record(), 10_000)
        let loop = NIOEventLoop()
        for number in 0..<count {
            loop.submit { record.note("\(number)") }
            if number % 1_000 == 999 { loop.submitAndWait { #expect(record.notes.count == number + 1) } }
        }
        #expect(record.notes == (0..<count).map { "\($0)" })
        loop.shutDown()
    }

    @Test("AB-G05: reports that a transport makes inside a task run after it, in order, at the same time")
    func whatIsReportedInsideATaskRunsAfterIt() {
        let record = Record()
        let times = Mutex<Set<Instant>>([])
        let loop = NIOEventLoop()
        loop.submit {
            loop.execute { record.note("due") }
            for number in 0..<3 {
                loop.arrive {
                    record.note("report \(number)")
                    times.withLock { _ = $0.insert(loop.now) }
                    if number == 0 { loop.arrive { record.note("report 3") } }
                }
            }
            times.withLock { _ = $0.insert(loop.now) }
            record.note("end of the task")
        }
        loop.submitAndWait {}
        #expect(record.notes == ["end of the task", "due", "report 0", "report 1", "report 2", "report 3"])
        #expect(times.withLock { $0.count } == 1)
        loop.shutDown()
    }

    @Test func whatATaskSubmitsComesInATurnOfItsOwn() {
        let record = Record()
        let loop = NIOEventLoop()
        loop.submitAndWait {
            loop.submit { record.note("submitted") }
            loop.execute { record.note("due") }
        }
        loop.submitAndWait {}
        #expect(record.notes == ["due", "submitted"])
        loop.shutDown()
    }
}
