import Dispatch
import EventLoops
import TestBasics
import Testing

/// The tasks that a virtual loop runs, and when, beside the callback that it waits for.
@Suite struct CallbackOrderTests {
    private let loop = VirtualEventLoop()
    private let queue = SerialQueue("app")
    private let notes = Notes<String>()

    @Test("tasks that other threads submit while a callback runs come after those that the callback submits")
    func aCallbackComesBeforeOtherThreads() {
        loop.deliver(on: queue) { [loop, notes] in
            let group = DispatchGroup()
            DispatchQueue(label: "other").async(group: group) { loop.submit { notes.add("other thread") } }
            group.wait()
            loop.submit { notes.add("callback") }
        }
        loop.run(for: .seconds(1))
        #expect(notes.all == ["callback", "other thread"])
    }

    @Test("a callback returns although it waits for another thread that waits for the loop")
    func aCallbackThatWaitsForAnotherThread() {
        loop.deliver(on: queue) { [loop, notes] in
            let group = DispatchGroup()
            DispatchQueue(label: "other").async(group: group) { loop.submitAndWait { notes.add("other thread") } }
            group.wait()
            loop.submit { notes.add("callback") }
        }
        loop.run(for: .seconds(1))
        #expect(notes.all == ["other thread", "callback"])
    }

    @Test("a run that stops after a callback includes the tasks that the callback submitted")
    func aRunThatStopsAfterACallback() {
        loop.deliver(on: queue) { [loop, notes] in
            loop.submit { notes.add("asked") }
            notes.add("called")
        }
        let isOver = loop.run(until: .zero + .seconds(1)) { notes.all.contains("called") }
        #expect(isOver)
        #expect(notes.all == ["called", "asked"])
        #expect(loop.now == .zero)
    }

    @Test("a call on a loop that is not running comes after the tasks submitted before")
    func callsOnAnIdleLoopFollowEarlierTasks() {
        loop.submit { [notes] in notes.add("submitted") }
        loop.waitFor { [notes] in notes.add("waited for") }
        #expect(notes.all == ["submitted", "waited for"])
    }

    /// Its deinitializer waits until the loop continues, or until it is clear that the loop is waiting.
    private final class Sluggish: Sendable {
        private let isRunningOn: DispatchSemaphore
        private let notes: Notes<String>

        init(until isRunningOn: DispatchSemaphore, _ notes: Notes<String>) {
            (self.isRunningOn, self.notes) = (isRunningOn, notes)
        }

        deinit {
            _ = isRunningOn.wait(timeout: .now() + .milliseconds(200))
            notes.add("released")
        }
    }

    @Test("a callback's captures are released before the loop goes on")
    func capturesAreReleasedFirst() {
        let isRunningOn = DispatchSemaphore(value: 0)
        deliver(Sluggish(until: isRunningOn, notes))
        loop.schedule(after: .microseconds(1)) { [notes] in
            notes.add("next task")
            isRunningOn.signal()
        }
        loop.run(for: .seconds(1))
        // Everything on the queue itself has completed.
        queue.sync {}
        #expect(notes.all == ["released", "next task"])
    }

    private func deliver(_ captured: Sluggish) {
        loop.deliver(on: queue) { withExtendedLifetime(captured) {} }
    }
}
