import BluetoothSimulation
import BluetoothTesting
import CoreBluetooth
import Foundation
import Synchronization
import Testing

/// Records the time of the world at which things happen, rounded to milliseconds.
private final class Diary: Sendable {
    private let entries = Mutex<[String]>([])
    var all: [String] { entries.withLock { $0 } }
    func note(_ text: String) { entries.withLock { $0.append(text) } }
}

private struct Stage {
    let world = SimulatedWorld(seed: 1)
    let diary = Diary()
    let phone: SimulatedDevice

    init() {
        VirtualAppTime.follow(world)
        phone = world.addDevice(named: "Phone")
    }

    /// Launches an app whose code is `body`, and lets time pass.
    func run(for duration: Duration = .seconds(60), _ body: (Diary) -> Void) {
        let app = phone.launch("app") { app in
            body(diary)
            return app
        }
        withExtendedLifetime(app) { _ = world.run(for: duration) }
    }
}

/// The seconds since the world began, as the app's code sees them.
private func seconds() -> String {
    String(format: "%.3f", Date().timeIntervalSince1970 - SimulatedWorld.defaultCalendarStart)
}

@Suite struct VirtualAppTimeTests {
    @Test func dispatchAfterFollowsTheWorld() {
        let stage = Stage()
        stage.run { diary in
            let queue = DispatchQueue(label: "app")
            queue.asyncAfter(deadline: .now() + 10) { diary.note("after \(seconds())") }
            queue.asyncAfter(wallDeadline: .now() + 20) { diary.note("wall \(seconds())") }
            DispatchQueue.global().asyncAfter(deadline: .now() + .milliseconds(1)) {
                diary.note("soon \(seconds())")
                queue.asyncAfter(deadline: .now() + 1) { diary.note("nested \(seconds())") }
            }
            queue.asyncAfter(deadline: .distantFuture) { diary.note("never") }
        }
        #expect(stage.diary.all == ["soon 0.001", "nested 1.001", "after 10.000", "wall 20.000"])
    }

    @Test func aCancelledWorkItemDoesNotRun() {
        let stage = Stage()
        stage.run { diary in
            let queue = DispatchQueue(label: "app")
            // Safe: work items may be cancelled on all threads.
            nonisolated(unsafe) let item = DispatchWorkItem { diary.note("late") }
            queue.asyncAfter(deadline: .now() + 10, execute: item)
            queue.asyncAfter(deadline: .now() + 5) { item.cancel() }
        }
        #expect(stage.diary.all == [])
    }

    @Test func dispatchTimersFollowTheWorld() {
        let stage = Stage()
        stage.run { diary in
            // Safe: timers may be cancelled on all threads.
            nonisolated(unsafe) let timer = DispatchSource.makeTimerSource(queue: DispatchQueue(label: "app"))
            let ticks = Mutex(0)
            timer.schedule(deadline: .now() + 2, repeating: .seconds(3))
            timer.setEventHandler {
                diary.note("tick \(seconds())")
                let count = ticks.withLock { ticks in
                    ticks += 1
                    return ticks
                }
                if count == 3 { timer.cancel() }
            }
            timer.setCancelHandler { diary.note("cancelled \(seconds())") }
            timer.resume()
        }
        #expect(stage.diary.all == ["tick 2.000", "tick 5.000", "tick 8.000", "cancelled 8.000"])
    }

    @Test func aTimerThatIsScheduledAgainForgetsTheOldTime() {
        let stage = Stage()
        stage.run { diary in
            let queue = DispatchQueue(label: "app")
            // Safe: timers may be scheduled on all threads.
            nonisolated(unsafe) let timer = DispatchSource.makeTimerSource(queue: queue)
            timer.schedule(deadline: .now() + 10)
            timer.setEventHandler { diary.note("fired \(seconds())") }
            timer.activate()
            queue.asyncAfter(deadline: .now() + 9) { timer.schedule(deadline: .now() + 10) }
            queue.asyncAfter(deadline: .now() + 30) { timer.cancel() }
        }
        #expect(stage.diary.all == ["fired 19.000"])
    }

    @Test func tasksSleepInTheTimeOfTheWorld() {
        let stage = Stage()
        stage.run { diary in
            Task {
                try await Task.sleep(for: .seconds(10))
                diary.note("for \(seconds())")
                try await Task.sleep(nanoseconds: 1_500_000_000)
                diary.note("nanoseconds \(seconds())")
                try await Task.sleep(until: .now + .seconds(2), clock: .continuous)
                diary.note("continuous \(seconds())")
                try await Task.sleep(until: .now + .seconds(3), clock: .suspending)
                diary.note("suspending \(seconds())")
            }
        }
        #expect(stage.diary.all == ["for 10.000", "nanoseconds 11.500", "continuous 13.500", "suspending 16.500"])
    }

    @Test func aCancelledSleepEndsAtOnce() {
        let stage = Stage()
        stage.run { diary in
            let task = Task {
                do { try await Task.sleep(for: .seconds(30)) } catch { diary.note("cancelled \(seconds())") }
            }
            DispatchQueue.global().asyncAfter(deadline: .now() + 4) { task.cancel() }
        }
        #expect(stage.diary.all == ["cancelled 4.000"])
    }

    @Test func clocksShowTheTimeOfTheWorld() {
        let stage = Stage()
        stage.run { diary in
            let (date, continuous, suspending) = (Date(), ContinuousClock.now, SuspendingClock.now)
            DispatchQueue.global().asyncAfter(deadline: .now() + 7) {
                diary.note(String(format: "%.3f", Date().timeIntervalSince(date)))
                diary.note("\(ContinuousClock.now - continuous)")
                diary.note("\(SuspendingClock.now - suspending)")
                diary.note("\(time(nil) - Int(SimulatedWorld.defaultCalendarStart))")
            }
        }
        #expect(stage.diary.all == ["7.000", "7.0 seconds", "7.0 seconds", "7"])
        // This code belongs to no app.
        #expect(Date().timeIntervalSince1970 > 1_700_000_000)
    }

    @Test func theClockWaitsForWorkOnOtherQueues() {
        let stage = Stage()
        stage.run { diary in
            let (first, second) = (DispatchQueue(label: "first"), DispatchQueue(label: "second"))
            first.async {
                Thread.sleep(forTimeInterval: 0.05)
                second.async { diary.note("hop \(seconds())") }
            }
            first.asyncAfter(deadline: .now() + 0.001) { diary.note("later \(seconds())") }
        }
        #expect(stage.diary.all == ["hop 0.000", "later 0.001"])
    }

    @Test func worldsHaveTimesOfTheirOwn() async {
        let results = await withTaskGroup(of: [String].self) { group in
            for number in 1...8 {
                group.addTask {
                    await withCheckedContinuation { done in
                        DispatchQueue(label: "world").async {
                            let stage = Stage()
                            stage.run(for: .seconds(10 * number)) { diary in
                                DispatchQueue(label: "app").asyncAfter(deadline: .now() + .seconds(9 * number)) {
                                    diary.note(seconds())
                                }
                            }
                            done.resume(returning: stage.diary.all)
                        }
                    }
                }
            }
            return await group.reduce(into: [String]()) { $0 += $1 }
        }
        #expect(results.sorted() == (1...8).map { String(format: "%d.000", 9 * $0) }.sorted())
    }

    @Test func timersOfACrashedAppDoNotFire() {
        let stage = Stage()
        let app = Mutex<SimulatedApp?>(nil)
        stage.phone.launch("app") { launched in
            app.withLock { $0 = launched }
            DispatchQueue(label: "app").asyncAfter(deadline: .now() + 10) { [diary = stage.diary] in diary.note("late")
            }
        }
        stage.world.run(for: .seconds(5))
        app.withLock { $0 }?.crash()
        stage.world.run(for: .seconds(20))
        #expect(stage.diary.all == [])
    }

    @Test func aSuspendedAppsTimersWait() throws {
        let stage = Stage()
        let diary = stage.diary
        stage.phone.install("app", declaring: AppDeclaration(isManaged: true)) { _, _ in
            let queue = DispatchQueue(label: "app")
            queue.asyncAfter(deadline: .now() + 100) { diary.note("fired \(seconds())") }
            return queue
        }
        let app = try #require(stage.phone.open("app"))
        stage.world.run(for: .seconds(10))
        app.leave()
        stage.world.run(for: .seconds(190))
        #expect(stage.diary.all == [])
        app.enter()
        stage.world.run(for: .seconds(1))
        #expect(stage.diary.all == ["fired 200.000"])
    }
}

// MARK: - Timers of Foundation

extension VirtualAppTimeTests {
    /// Runs an app on a thread that is not the main one, so that the main queue is free for it.
    private func onMainQueue(_ stage: Stage, _ body: @escaping @Sendable (Diary) -> Void) async {
        await withCheckedContinuation { done in
            DispatchQueue(label: "world").async {
                stage.run { diary in DispatchQueue.main.async { body(diary) } }
                done.resume()
            }
        }
    }

    @Test func timersOfFoundationFollowTheWorld() async {
        let stage = Stage()
        await onMainQueue(stage) { diary in
            _ = Timer.scheduledTimer(withTimeInterval: 10, repeats: false) { timer in
                diary.note("once \(seconds()) \(timer.isValid)")
            }
            let count = Mutex(0)
            _ = Timer.scheduledTimer(withTimeInterval: 4, repeats: true) { timer in
                diary.note("again \(seconds())")
                let times = count.withLock { count in
                    count += 1
                    return count
                }
                if times == 3 { timer.invalidate() }
            }
            // Safe: used on the main queue only.
            nonisolated(unsafe) let late = Timer(fire: Date() + 50, interval: 0, repeats: false) { _ in
                diary.note("never")
            }
            RunLoop.main.add(late, forMode: .common)
            DispatchQueue.main.asyncAfter(deadline: .now() + 49) { late.invalidate() }
            // Safe: used on the main queue only.
            nonisolated(unsafe) let moved = Timer(fire: Date() + 30, interval: 0, repeats: false) { _ in
                diary.note("moved \(seconds())")
            }
            RunLoop.main.add(moved, forMode: .default)
            DispatchQueue.main.asyncAfter(deadline: .now() + 1) { moved.fireDate = Date() + 14 }
        }
        let expected = ["again 4.000", "again 8.000", "once 10.000 true", "again 12.000", "moved 15.000"]
        #expect(stage.diary.all == expected)
    }

    @Test func sleepingIsByTheClockOfTheMachineAndEnds() async {
        let stage = Stage()
        let began = ContinuousClock.now
        stage.run { diary in
            DispatchQueue(label: "app").async {
                let date = Date()
                Thread.sleep(until: date + 0.05)
                diary.note(Date() >= date + 0.05 ? "slept" : "did not sleep")
            }
        }
        #expect(stage.diary.all == ["slept"])
        #expect(ContinuousClock.now - began >= .milliseconds(50))
    }
}

// MARK: - Sources of others, and sources that are gone

extension VirtualAppTimeTests {
    @Test func timersOfOthersAreThoseOfTheSystem() async {
        _ = Stage()
        await withCheckedContinuation { done in
            let timer = DispatchSource.makeTimerSource(queue: DispatchQueue(label: "other"))
            timer.schedule(deadline: .now() + .milliseconds(1))
            timer.setEventHandler {
                timer.cancel()
                done.resume()
            }
            timer.resume()
        }
    }

    @Test func aTimerEndsWithItsLastReference() {
        let stage = Stage()
        stage.run { diary in
            let queue = DispatchQueue(label: "app")
            for number in 1...50 {
                let timer = DispatchSource.makeTimerSource(queue: queue)
                timer.schedule(deadline: .now() + .seconds(number))
                timer.setEventHandler { diary.note("fired") }
                timer.resume()
            }
            // Other sources get the memory of those.
            for _ in 1...50 { DispatchSource.makeUserDataAddSource(queue: queue).resume() }
        }
        #expect(stage.diary.all == [])
    }
}
