import Dispatch
import EventLoops
import Synchronization
import TestBasics
import Testing

@Suite struct VirtualEventLoopTests {
    @Test func tasksRunInOrderOfTimeThenOfScheduling() {
        let loop = VirtualEventLoop()
        var order: [String] = []
        loop.schedule(after: .seconds(2)) { order.append("c \(loop.now.microseconds)") }
        loop.schedule(after: .seconds(1)) { order.append("a \(loop.now.microseconds)") }
        loop.schedule(after: .seconds(1)) { order.append("b \(loop.now.microseconds)") }
        loop.run(for: .seconds(30))
        #expect(order == ["a 1000000", "b 1000000", "c 2000000"])
        #expect(loop.now == Instant(microseconds: 30_000_000))
    }

    @Test func aCancelledTaskDoesNotRun() {
        let loop = VirtualEventLoop()
        var ran = false
        let task = loop.schedule(after: .seconds(1)) { ran = true }
        loop.cancel(task)
        loop.run(for: .seconds(2))
        #expect(!ran)
    }

    @Test func theClockStandsStillWhileACallbackRuns() {
        let loop = VirtualEventLoop()
        let queue = SerialQueue("app")
        let seen = Mutex<[Int64]>([])
        loop.schedule(after: .seconds(1)) {
            loop.deliver(on: queue) {
                loop.submit { seen.withLock { $0.append(loop.now.microseconds) } }
                loop.submitAndWait { seen.withLock { $0.append(loop.now.microseconds + 1) } }
            }
        }
        loop.schedule(after: .seconds(1) + .microseconds(1)) { seen.withLock { $0.append(-1) } }
        loop.run(for: .seconds(2))
        #expect(seen.withLock { $0 } == [1_000_000, 1_000_001, -1])
    }

    @Test func aLoopThatRunsOnTheAppsQueueCallsTheAppInline() {
        let loop = VirtualEventLoop()
        let queue = SerialQueue("app")
        let called = Mutex(false)
        loop.deliver(on: queue) { called.withLock { $0 = true } }
        queue.sync { loop.run(for: .seconds(1)) }
        #expect(called.withLock { $0 })
    }

    @Test func waitingFromAnotherThreadWorksWhileNobodyRunsTheLoop() {
        let loop = VirtualEventLoop()
        let answer = Mutex(0)
        DispatchQueue(label: "other").sync { loop.submitAndWait { answer.withLock { $0 = 42 } } }
        #expect(answer.withLock { $0 } == 42)
    }

    @Test func tasksOfManyThreadsAreRunInTheOrderOfEachWhileTheLoopRuns() {
        let loop = VirtualEventLoop()
        let taken = Mutex([[Int]](repeating: [], count: 4))
        let group = DispatchGroup()
        for thread in 0..<4 {
            DispatchQueue(label: "thread \(thread)").async(group: group) {
                for number in 0..<1_000 { loop.submit { taken.withLock { $0[thread].append(number) } } }
            }
        }
        while group.wait(timeout: .now()) == .timedOut { loop.run(for: .milliseconds(1)) }
        loop.run(for: .milliseconds(1))
        #expect(taken.withLock { $0 } == [[Int]](repeating: Array(0..<1_000), count: 4))
    }

    @Test func aBoundValueIsLetGoOfOnItsLoop() {
        final class Resident {
            let loop: VirtualEventLoop
            let gone: @Sendable (Bool) -> Void

            init(_ loop: VirtualEventLoop, _ gone: @escaping @Sendable (Bool) -> Void) {
                self.loop = loop
                self.gone = gone
            }

            deinit { gone(loop.isCurrent) }
        }
        let loop = VirtualEventLoop()
        let wasOnLoop = Mutex<[Bool]>([])
        let bound = Mutex<LoopBound<Resident>?>(
            LoopBound(Resident(loop) { isOnLoop in wasOnLoop.withLock { $0.append(isOnLoop) } }, loop: loop)
        )
        loop.schedule(after: .seconds(1)) {
            // Another thread drops the last reference while this one runs the loop.
            let dropped = DispatchSemaphore(value: 0)
            DispatchQueue(label: "other").async {
                bound.withLock { $0 = nil }
                dropped.signal()
            }
            dropped.wait()
            #expect(wasOnLoop.withLock { $0 }.isEmpty)
        }
        loop.run(for: .seconds(2))
        #expect(wasOnLoop.withLock { $0 } == [true])
    }

    @Test func manyCancelledTimersDoNotPileUp() {
        var tasks = TaskQueue()
        for _ in 0..<10_000 { tasks.cancel(tasks.add(at: Instant(microseconds: 30_000_000)) {}) }
        #expect(tasks.count == 0)
        #expect(tasks.nextDeadline() == nil)
    }

    @Test func theHorizonIsTheTaskBehindTheNextOneOrTheEndOfTheRun() {
        let loop = VirtualEventLoop()
        var (seen, order): ([Int64?], [String]) = ([], [])
        let next = loop.schedule(at: Instant(microseconds: 20)) { order.append("next") }
        let later = loop.schedule(at: Instant(microseconds: 30)) { order.append("later") }
        loop.schedule(at: Instant(microseconds: 10)) {
            seen = [nil, next, later].map { loop.horizon(behind: $0)?.nanoseconds }
            loop.cancel(later)
            seen.append(loop.horizon(behind: next)?.nanoseconds)
            // A task with the same deadline keeps its place behind the one that was looked behind.
            loop.schedule(at: Instant(microseconds: 20)) { order.append("last") }
            seen.append(loop.horizon(behind: next)?.nanoseconds)
            loop.deliver(on: SerialQueue("app")) {}
            seen.append(loop.horizon(behind: next)?.nanoseconds)
        }
        loop.run(until: Instant(microseconds: 40))
        #expect(seen == [20_000, 30_000, nil, 40_001, 20_000, nil])
        #expect(order == ["next", "last"])
    }

    @Test func timeMayPassWithinATask() {
        let loop = VirtualEventLoop()
        var instants: [Int64] = []
        loop.schedule(at: Instant(microseconds: 10)) {
            loop.pass(to: Instant(microseconds: 15))
            loop.schedule(after: .microseconds(1)) { instants.append(loop.now.microseconds) }
        }
        loop.run(until: Instant(microseconds: 18)) {
            instants.append(loop.now.microseconds)
            return false
        }
        #expect(instants == [0, 10, 15, 16, 16, 16, 18])
    }

    @Test func durationsAreClampedToNanoseconds() {
        #expect(Duration.nanoseconds(-1_500).nanoseconds == -1_500)
        #expect(Duration(secondsComponent: 0, attosecondsComponent: -1_999_999_999).nanoseconds == -1)
        #expect(Duration.seconds(Int64.max).nanoseconds == .max)
        #expect(Duration.seconds(Int64.min).nanoseconds == .min)
    }

    @Test func theNameOfATaskThatIsOverNamesNoOther() {
        var tasks = TaskQueue()
        let first = tasks.add(at: .zero) {}
        #expect(tasks.popNext(dueBy: .zero) != nil)
        let second = tasks.add(at: .zero) {}
        #expect(first != second)
        #expect(tasks.cancel(first) == nil)
        #expect(tasks.count == 1)
        #expect(tasks.cancel(second) != nil)
        #expect(tasks.count == 0)
    }

    @Test func deinitializersMayCancelTasks() {
        final class Holder {
            let atTheEnd: () -> Void
            init(_ atTheEnd: @escaping () -> Void) { self.atTheEnd = atTheEnd }
            deinit { atTheEnd() }
        }
        let loop = VirtualEventLoop()
        var ran = false
        let other = loop.schedule(after: .seconds(1)) { ran = true }
        var holder: Holder? = Holder { loop.cancel(other) }
        let task = loop.schedule(after: .seconds(1)) { [holder] in withExtendedLifetime(holder) {} }
        holder = nil
        loop.cancel(task)
        loop.run(for: .seconds(2))
        #expect(holder == nil)
        #expect(!ran)
    }

    @Test func oneSeedGivesOneSequence() {
        #expect(RandomSource(seed: 7).bytes(32) == RandomSource(seed: 7).bytes(32))
        #expect(RandomSource(seed: 7).bytes(32) != RandomSource(seed: 8).bytes(32))
    }

    @Test("a paced run keeps the order and the instants of an unpaced one, and takes its time")
    func pacedRun() {
        func order(at pace: Pace?) -> [String] {
            let loop = VirtualEventLoop()
            var order: [String] = []
            for seconds in [3, 1, 2] {
                loop.schedule(after: .seconds(seconds)) { order.append("\(seconds) at \(loop.now.microseconds)") }
            }
            #expect(!loop.run(until: Instant(microseconds: 4_000_000), at: pace) { false })
            #expect(loop.now == Instant(microseconds: 4_000_000))
            return order
        }
        let start = DispatchTime.now()
        #expect(order(at: Pace(speed: 1_000)) == ["1 at 1000000", "2 at 2000000", "3 at 3000000"])
        #expect(DispatchTime.now() >= start + .milliseconds(4))
        #expect(order(at: nil) == order(at: Pace(speed: 1e12)))
    }

    @Test("what another thread submits wakes a paced run before its next task is due")
    func paceAndSubmissions() {
        let loop = VirtualEventLoop()
        let arrived = Mutex<Instant?>(nil)
        loop.schedule(after: .seconds(1_000_000)) { Issue.record("the run did not end when its condition held") }
        loop.schedule(after: .milliseconds(1)) {
            DispatchQueue.global().async { loop.submit { arrived.withLock { $0 = loop.now } } }
        }
        #expect(loop.run(until: Instant(nanoseconds: .max), at: .realTime) { arrived.withLock { $0 != nil } })
        let instant = arrived.withLock { $0 } ?? .zero
        #expect(instant >= Instant(microseconds: 1_000))
        #expect(loop.now == instant)
    }

    @Test("the condition of a paced run is evaluated even if nothing happens on the loop")
    func paceAndCondition() {
        let loop = VirtualEventLoop()
        let isDone = Mutex(false)
        DispatchQueue.global().async { isDone.withLock { $0 = true } }
        #expect(loop.run(until: Instant(nanoseconds: .max), at: .realTime) { isDone.withLock { $0 } })
        // A run without a pace does not wait for anything afterwards.
        loop.schedule(after: .seconds(1_000_000)) { isDone.withLock { $0 = false } }
        loop.run(for: .seconds(2_000_000))
        #expect(!isDone.withLock { $0 })
    }
}
