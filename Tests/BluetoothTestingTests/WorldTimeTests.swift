import AppStandIns
import CoreBluetooth
import Foundation
import Synchronization
import TestBasics
import Testing

@testable import BluetoothTesting

/// Steps in virtual time, and expectations with deadlines.
@Suite struct WorldTimeTests {
    @Test func timesAreShownAsOnAClock() {
        #expect(WorldTime.text(.zero) == "00:00.000")
        #expect(WorldTime.text(.milliseconds(72_345)) == "01:12.345")
        #expect(WorldTime.text(.seconds(3_723)) == "1:02:03.000")
        #expect(WorldTime.words(.seconds(30)) == "30 s")
        #expect(WorldTime.words(.milliseconds(250)) == "0.25 s")
    }

    @Test("the world runs on a thread of its own, in the test's task", .world)
    func theThreadOfTheWorld() async {
        let (executor, counter) = (world.executor, TimerCounter())
        world.after(.seconds(1)) {
            dispatchPrecondition(condition: .onQueue(executor.queue))
            counter.add()
            #expect(Test.current?.name == "theThreadOfTheWorld()")
        }
        await world.run(for: .seconds(2))
        #expect(counter.count == 1)
    }

    @Test("a condition ends the wait, and after calls once", .world)
    func aConditionEndsTheWait() async {
        let counter = TimerCounter()
        world.after(.seconds(3)) { counter.add() }
        #expect(await world.until(within: .seconds(60)) { counter.count == 1 })
        #expect(world.now == .seconds(3))
        await world.run(for: .seconds(60))
        #expect(counter.count == 1)
    }

    @Test("a condition that does not become true fails the test with its description", .gathers(Self.late), .world)
    func aConditionThatIsLate() async {
        await world.run(for: .seconds(5))
        #expect(await !world.until(within: .seconds(60), "the belt is found") { false })
    }

    @Sendable private static func late(_ issues: [GatheredIssue]) {
        #expect(issues.count == 1)
        #expect(
            issues.first?.comments.first
                == "expected within 60 s from 00:05.000 (until 01:05.000): the belt is found; it was not"
        )
    }

    @Test("a value that stays wrong is reported with what was seen", .gathers(Self.wrong), .world)
    func aWrongValue() async {
        let counter = TimerCounter()
        world.after(.seconds(2)) { counter.add() }
        #expect(await !world.expect(counter.count, equals: 2, "the count", within: .seconds(10)))
        #expect(world.now == .seconds(10))
        let found = Optional<String>.none
        await world.expect(found, equals: "Belt", within: .seconds(1))
    }

    @Sendable private static func wrong(_ issues: [GatheredIssue]) {
        let texts = issues.compactMap(\.comments.first)
        #expect(
            texts == [
                "expected within 10 s from 00:00.000 (until 00:10.000): the count is 2; "
                    + "seen: 0 from 00:00.000, then 1 from 00:02.000",
                "expected within 1 s from 00:10.000 (until 00:11.000): `found` is \"Belt\"; seen: nil from 00:10.000",
            ]
        )
    }

    @Test("a value that changes is reported", .gathers(Self.changed), .world)
    func aValueThatChanges() async {
        let counter = TimerCounter()
        #expect(await world.expectUnchanged(counter.count, for: .seconds(5)))
        world.after(.seconds(2)) { counter.add() }
        #expect(await !world.expectUnchanged(counter.count, "the count", for: .seconds(5)))
    }

    @Sendable private static func changed(_ issues: [GatheredIssue]) {
        #expect(
            issues.map(\.comments.first)
                == ["expected for 5 s from 00:05.000: the count stays 0; at 00:07.000 it was 1"]
        )
    }

    @Test("states of managers and peripherals are waited for", .world)
    func states() async throws {
        let pair = TestPair(in: world)
        #expect(await world.expect(try #require(pair.follower.manager), is: .poweredOn))
        #expect(await world.until { pair.follower.found != nil })
        let belt = try #require(pair.follower.found)
        #expect(await world.expect(belt, is: .connected))
        pair.phone.setPower(false)
        #expect(await world.expect(try #require(pair.follower.manager), is: .poweredOff))
    }

    @Test("a state that does not come is reported", .gathers(Self.missingState), .world)
    func aStateThatDoesNotCome() async throws {
        let pair = TestPair(in: world)
        await world.expect(try #require(pair.follower.manager), is: .unauthorized, within: .seconds(1))
    }

    @Sendable private static func missingState(_ issues: [GatheredIssue]) {
        let text = issues.first?.comments.first ?? ""
        #expect(text.contains("the state of the CBCentralManager is unauthorized; seen: unknown from 00:00.000"))
        #expect(text.contains("then poweredOn from 00:00."))
    }

    @Test("nothing happens while devices are connected and idle", .gathers(Self.something), .world)
    func idleConnectionsCauseNoEvents() async {
        let pair = TestPair(in: world)
        await world.until { pair.follower.notes.all.last == "subscribed" }
        #expect(await world.expectNothing(for: .seconds(60)))
        let belt = pair.belt
        world.after(.seconds(10)) { belt.send([0, 61]) }
        #expect(await !world.expectNothing(for: .seconds(60)))
    }

    @Sendable private static func something(_ issues: [GatheredIssue]) {
        #expect(issues.count == 1)
        let text = issues.first?.comments.first ?? ""
        #expect(text.contains("nothing happens; 01:1"))
        #expect(text.contains("Belt: belt → update value"))
    }

    @Test("an app on the main queue works, in a test on the main actor", .world)
    @MainActor func theMainQueue() async {
        let pair = TestPair(in: world, followerQueue: nil)
        #expect(await world.until { pair.follower.notes.all.last == "subscribed" })
    }

    @Test("tasks of an app use the cooperative threads while the world runs", .world)
    func tasksOfApps() async {
        let counter = TimerCounter()
        let clock = world.clock
        world.addDevice(named: "Phone").launch("sleeper") { app in
            app.task {
                try await Task.sleep(for: .seconds(10), clock: clock)
                counter.add()
            }
        }
        #expect(await world.until(within: .seconds(11)) { counter.count == 1 })
        #expect(world.now == .seconds(10))
    }

    @Test("a cancelled task ends the run", .world)
    func aCancelledRun() async {
        let world = world
        let counter = TimerCounter()
        world.after(.seconds(5)) {
            counter.add()
            withUnsafeCurrentTask { $0?.cancel() }
        }
        let task = Task { await world.run(for: .seconds(1_000_000)) }
        await task.value
        #expect(counter.count == 1)
        #expect(world.now < .seconds(6))
    }
}

final class TimerCounter: Sendable {
    private let value = Mutex(0)
    var count: Int { value.withLock { $0 } }
    func add() { value.withLock { $0 += 1 } }
}
