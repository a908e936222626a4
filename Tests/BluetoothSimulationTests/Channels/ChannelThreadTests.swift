import CoreBluetooth
import Foundation
import Synchronization
import TestBasics
import Testing

/// Streams in the run loop of a thread other than the one that advances time.
@Suite struct ChannelThreadTests {
    /// A thread that only runs its run loop.
    private final class RunLoopThread: @unchecked Sendable {
        // Safe: set before the thread signals that it runs, except for the mutex.
        private(set) var runLoop: RunLoop!
        private(set) var thread: Thread!
        // Without a timer, the run loop would return.
        private let anchor = Timer(fire: .distantFuture, interval: 1e9, repeats: true) { $0.invalidate() }
        private let isOver = DispatchSemaphore(value: 0)
        let strays = Mutex(0)

        init() {
            let isThere = DispatchSemaphore(value: 0)
            thread = Thread { [self] in
                runLoop = .current
                runLoop.add(anchor, forMode: .default)
                isThere.signal()
                RunLoop.current.run()
                isOver.signal()
            }
            thread.start()
            isThere.wait()
        }

        /// Counts events that arrive on another thread.
        func watch(_ user: ChannelUser) {
            user.onEvent = { [self] _, _ in if Thread.current != thread { strays.withLock { $0 += 1 } } }
        }

        /// Lets the thread end as soon as nothing else keeps its run loop alive.
        func end() -> Bool {
            anchor.fireDate = Date(timeIntervalSinceReferenceDate: 0)
            return isOver.wait(timeout: .now() + 20) == .success
        }
    }

    /// Sends data in both directions, and returns the recorded packets.
    private func exchange(on thread: RunLoopThread) throws -> [UInt8] {
        let world = ChannelWorld(runLoop: thread.runLoop, lossRate: 0.1)
        world.opener.outgoing = ChannelWorld.noise(50_000, seed: 1)
        world.publisher.outgoing = ChannelWorld.noise(50_000, seed: 2)
        let (phone, station) = try world.open()
        for user in [phone, station] { thread.watch(user) }
        let isThrough = world.run(.seconds(60)) { phone.received.count == 50_000 && station.received.count == 50_000 }
        #expect(isThrough, "\(phone.received.count) and \(station.received.count) octets came")
        #expect(phone.received == world.publisher.outgoing)
        #expect(station.received == world.opener.outgoing)
        phone.close()
        world.run(.seconds(1))
        #expect(station.events.sorted() == ["in end", "in open", "out end", "out open"])
        station.close()
        return world.capture.bytes
    }

    @Test(
        "behaviour 8.6: streams in another thread's run loop get their events there, in virtual time, and a seed determines all packets"
    )
    func streamsInAnotherThreadsRunLoop() throws {
        let captures = try (0..<2).map { _ in
            let thread = RunLoopThread()
            let packets = try exchange(on: thread)
            #expect(thread.strays.withLock { $0 } == 0)
            #expect(thread.end())
            return packets
        }
        #expect(captures[0] == captures[1])
    }

    @Test("a thread that has left its run loop blocks nothing, and its streams can be polled")
    func aThreadThatHasLeftItsRunLoop() throws {
        let thread = RunLoopThread()
        let world = ChannelWorld(runLoop: thread.runLoop)
        try world.connect()
        #expect(thread.end())
        world.opener.open(world.publisher.psms[0])
        world.run(.seconds(5))
        let (phone, station) = (try #require(world.opener.users.first), try #require(world.publisher.users.first))
        #expect(phone.output.write([1, 2, 3], maxLength: 3) == 3)
        #expect(world.run { station.input.hasBytesAvailable })
        station.read()
        #expect(station.received == Data([1, 2, 3]))
        #expect(phone.events == [])
        #expect(station.events == [])
    }
}
