import BluetoothSimulation
import CoreBluetooth
import EventLoops
import Foundation
import LinkLayer
import ServiceMessages
import Testing

@testable import ServiceProcess

/// Events that a process in another address space has not read when it dies.
@Suite struct UnreadEventTests {
    /// Runs processes that read a stream of numbers, each after its predecessor has died.
    ///
    /// - Returns: The numbers that each of them read.
    private func read(
        _ total: Int,
        atOnce: Int,
        lifetimes: [Int],
        pause: Duration,
        in world: ClientWorld = ClientWorld()
    ) -> [[Int]] {
        let belt = CountingBelt.launch(in: world.world, total: total, atOnce: atOnce)
        var readers: [DyingReader] = []
        for lifetime in lifetimes {
            let reader = DyingReader(in: world, lifetime: lifetime)
            readers.append(reader)
            world.world.run(for: .seconds(60)) { reader.isDead }
            world.world.run(for: pause)
        }
        let last = DyingReader(in: world)
        world.world.run(for: .seconds(60)) { last.numbers.last == total - 1 }
        world.world.run(for: .seconds(1))
        withExtendedLifetime(belt) {}
        return (readers + [last]).map(\.numbers)
    }

    @Test(
        "behaviours 10.4, 10.7: a process that dies at any value of a stream leaves the unread ones to the next, in order, once",
        arguments: [1, 6],
        [Duration.zero, .milliseconds(300)]
    )
    func aProcessThatDiesWithAnyValue(atOnce: Int, pause: Duration) {
        for lifetime in 1...14 {
            let numbers = read(30, atOnce: atOnce, lifetimes: [lifetime], pause: pause)
            #expect(numbers.first?.count == lifetime)
            #expect(numbers.flatMap { $0 } == Array(0..<30))
        }
    }

    @Test("behaviours 10.4, 10.7: of 1,500 values in a stream with 30 deaths none is lost or delivered twice")
    func aStreamWithThirtyDeaths() {
        let random = RandomSource(seed: 30)
        let lifetimes = (0..<30).map { _ in 1 + Int(random.below(60)) }
        let numbers = read(1_500, atOnce: 4, lifetimes: lifetimes, pause: .milliseconds(50))
        #expect(numbers.map(\.count).dropLast() == lifetimes[...])
        #expect(numbers.flatMap { $0 } == Array(0..<1_500))
    }

    @Test(
        "behaviours 10.7, 10.10: an unread disconnection goes to the next process, after the values before it"
    )
    func theEndOfAConnection() {
        let world = ClientWorld()
        let belt = CountingBelt.launch(in: world.world, total: 12)
        let reader = DyingReader(in: world)
        world.world.run(for: .seconds(20)) { reader.numbers.count == 4 }
        // The Bluetooth connection ends before the process's connection to the service.
        reader.stall()
        world.world.run(for: .milliseconds(200))
        belt.device.move(to: .init(x: 5_000))
        world.world.run(for: .seconds(10))
        reader.die()
        world.world.run(for: .seconds(1))
        let next = DyingReader(in: world)
        world.world.run(for: .seconds(1))
        #expect(next.story == ["restored 2", "disconnected"])
        let numbers = reader.numbers + next.numbers
        #expect(reader.numbers.count < 6)
        #expect(numbers.count > 6)
        #expect(numbers == Array(0..<numbers.count))
    }

    @Test(
        "AB-G05: a process that does not report its reads gets a bounded number of events, and the rest when it does"
    )
    func aProcessThatSaysNothing() {
        let world = ClientWorld()
        let client = world.connect().greeting()
        client.readsSilently = true
        client.send(
            .openManager(ManagerID(1), .central, ManagerOptions(showsPowerAlert: false, restoreIdentifier: "x"))
        )
        let unknown = Request.central(.peer(UUID.blank, .connect(ConnectOptions())))
        for _ in 0..<ServiceLimits.unreadEvents + 50 { client.send(.request(ManagerID(1), unknown)) }
        #expect(client.events().count == ServiceLimits.unreadEvents)
        client.send(.eventsRead(ManagerID(1), count: 10))
        #expect(client.events().count == 10)
        client.send(.eventsRead(ManagerID(1), count: UInt64(ServiceLimits.unreadEvents)))
        #expect(client.events().count == 41)
        client.send(.eventsRead(ManagerID(1), count: UInt64(ServiceLimits.unreadEvents) + 52))
        #expect(client.goodbye()?.contains("acknowledged events that were not sent") == true)
    }

    @Test(
        "AB-G05: a read count that decreases, or exceeds the events sent, ends the connection",
        arguments: [1, 3]
    )
    func aCountThatCannotBe(count: UInt64) {
        let world = ClientWorld()
        let client = world.connect().greeting()
        client.readsSilently = true
        client.send(
            .openManager(ManagerID(1), .central, ManagerOptions(showsPowerAlert: false, restoreIdentifier: "x"))
        )
        let unknown = Request.central(.peer(UUID.blank, .connect(ConnectOptions())))
        client.send(.request(ManagerID(1), unknown))
        client.send(.eventsRead(ManagerID(1), count: 2))
        #expect(!client.isClosed)
        client.send(.eventsRead(ManagerID(7), count: 2))
        #expect(!client.isClosed)
        client.send(.eventsRead(ManagerID(1), count: count))
        #expect(client.isClosed)
    }
}
