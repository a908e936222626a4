import Accessories
import Administration
import BluetoothService
import BluetoothSimulation
import BluetoothTypes
import EventLoops
import Foundation
import HCITransports
import ServiceEvents
import ServiceMessages
import ServiceProcess
import Synchronization
import Testing

@testable import Page

/// All that a tool receives of a world: packets, events and advice.
private final class Follower: Sendable {
    private struct State {
        var packets: [MonitoredPacket] = []
        var lines: [String] = []
    }

    private let state = Mutex(State())
    var packets: [MonitoredPacket] { state.withLock { $0.packets } }
    var lines: [String] { state.withLock { $0.lines } }

    func receive(_ reply: ToolReply) {
        guard case .event(let number, let text) = reply else { return }
        state.withLock { state in
            guard number == 2 else { return state.lines.append("\(number) \(text)") }
            let batch = try? JSONDecoder().decode(PacketBatch.self, from: Data(text.utf8))
            #expect(batch?.lost == 0)
            state.packets += (try? batch?.packets()) ?? []
        }
    }
}

/// Going back in the history of a world, and forward again.
@Suite struct WorldRecordTests {
    private struct End { let conversation: ToolConversation }

    /// A world from its first instant on, with a tool that follows it.
    private struct Followed {
        let world: LiveWorld
        let follower = Follower()
        private let end: LoopBound<End>

        init(seed: UInt64 = 5, repeating record: WorldRecord? = nil) {
            world = LiveWorld(seed: seed, opensApp: false, repeating: record)
            let follower = follower
            end = world.phone.withSystem { system in
                system.adviceSource = nil
                let conversation = ToolConversation(system: system, rights: .control) { follower.receive($0) }
                conversation.handle(.ask(number: 1, .monitor(kinds: .max)))
                conversation.handle(.ask(number: 2, .packets))
                return LoopBound(End(conversation: conversation), loop: system.loop)
            }
            world.openApp()
        }

        /// Everything that the page shows of the present, without what it says of other instants.
        func state() throws -> [String] {
            let end = end
            world.withPhone { _ in end.value.conversation.flush() }
            let text = JSON.of(WorldSnapshot(world, WorldPacer(), generation: 1))
            let json = try JSONSerialization.jsonObject(with: Data(text.utf8)) as? [String: Any] ?? [:]
            let shown = json.filter { !["lastMilliseconds", "actsAhead"].contains($0.key) }
            let sorted = try JSONSerialization.data(withJSONObject: shown, options: [.sortedKeys])
            return [String(decoding: sorted, as: UTF8.self)] + world.story.lines(from: 0).lines.map(\.text)
                + world.screen.lines
        }
    }

    /// Lives through fifty seconds with all kinds of acts, and returns the states at some instants.
    private func live(_ followed: Followed) throws -> [Int64: [String]] {
        let world = followed.world
        let far = DeviceFault(.outOfRange)
        let wall = Wall(from: Position(x: 10, y: -50), to: Position(x: 10, y: 50), attenuation: 20)
        let acts: [(Int64, (LiveWorld) throws -> Void)] = [
            (4_321, { try $0.perform(.move(.sensor, Position(x: 50))) }),
            (1_000, { try $0.perform(.begin(DeviceFault(.lossy, 0.3))) }),
            (3_000, { try $0.perform(.end(DeviceFault(.lossy, 0.3))) }),
            (1_000, { try $0.dropLink() }),
            (17_000, { try $0.perform(.begin(far)) }),
            (6_000, { try $0.perform(.move(.sensor, Position(x: 20))) }),
            (7_000, { try $0.perform(.addWall(wall)) }),
            (3_000, { try $0.perform(.app(.removeFromMemory)) }),
            (7_679, { _ in }),
        ]
        var states: [Int64: [String]] = [:]
        for (pause, act) in acts {
            // In pieces of the pace of a page.
            for left in stride(from: pause, to: 0, by: -730) { world.advance(by: min(left, 730)) }
            states[world.milliseconds] = try followed.state()
            try act(world)
        }
        return states
    }

    @Test("at each instant that a world goes back to, it has the same packets, events and states, octet for octet")
    func backAndForward() throws {
        let first = Followed()
        let states = try live(first)
        let record = first.world.record
        #expect(record.end == 50_000)
        #expect(record.deeds.count == 10)
        #expect(first.follower.packets.count > 2_000)
        for instant in states.keys.sorted(by: >) {
            let again = Followed(repeating: record)
            again.world.advance(by: instant)
            // The act of the instant itself is repeated already, so that only the packets before it are compared here.
            #expect(again.world.milliseconds == instant)
            let packets = again.follower.packets
            #expect(packets == Array(first.follower.packets.prefix(packets.count)), "\(instant)")
            #expect(
                again.follower.lines == Array(first.follower.lines.prefix(again.follower.lines.count)),
                "\(instant)"
            )
            #expect(again.world.record == record)
            for left in stride(from: 50_000 - instant, to: 0, by: -1_370) { again.world.advance(by: min(left, 1_370)) }
            #expect(try again.state() == states[50_000], "\(instant)")
            #expect(again.follower.packets == first.follower.packets, "\(instant)")
            #expect(again.follower.lines == first.follower.lines, "\(instant)")
            #expect(again.world.deeds == first.world.deeds)
            #expect(again.world.ahead == nil)
        }
    }

    @Test("between the acts, a world that goes back looks as it did")
    func statesBetween() throws {
        let first = Followed()
        var states: [Int64: [String]] = [:]
        let record = try {
            for instant in [2_000, 6_000, 14_000] {
                first.world.advance(by: Int64(instant) - first.world.milliseconds)
                states[Int64(instant)] = try first.state()
                if instant == 2_000 { try first.world.dropLink() }
            }
            return first.world.record
        }()
        for instant in [6_000, 14_000] as [Int64] {
            let again = Followed(repeating: record)
            again.world.advance(by: instant)
            #expect(try again.state() == states[instant], "\(instant)")
        }
    }

    @Test("steps repeat the acts of the history at their times")
    func stepsRepeat() throws {
        let first = Followed()
        _ = try live(first)
        let again = Followed(repeating: first.world.record)
        while again.world.milliseconds < 50_000 { _ = again.world.step() }
        again.world.advance(by: 1_000)
        first.world.advance(by: again.world.milliseconds - 50_000)
        #expect(again.world.story.lines(from: 0).lines == first.world.story.lines(from: 0).lines)
        #expect(again.world.deeds == first.world.deeds)
    }

    @Test("on its way to an instant, a world leaves out empty packets that nobody will see, and nothing else")
    func emptyPacketsAreLeftOut() throws {
        let (first, seen) = (Followed(), 500)
        for x in [30, 20, 25] {
            for _ in 0..<20 { first.world.advance(by: 1_000) }
            try first.world.perform(.move(.sensor, Position(x: Double(x))))
        }
        let again = Followed(repeating: first.world.record)
        let quietEnd = try #require(again.world.instant(with: seen, before: 60_000))
        again.world.leaveOutQuietFrames(true)
        again.world.advance(by: quietEnd)
        again.world.leaveOutQuietFrames(false)
        again.world.advance(by: 60_000 - quietEnd)
        #expect(try again.state() == first.state())
        #expect(again.follower.lines == first.follower.lines)
        let (all, some) = (first.follower.packets, again.follower.packets)
        #expect(some.suffix(seen) == all.suffix(seen))
        let numbers = Set(some.map(\.number))
        #expect(some == all.filter { numbers.contains($0.number) })
        let leftOut = all.filter { !numbers.contains($0.number) }
        #expect(leftOut.count > 2_000)
        // The header of the form, the access address, the header of the PDU and the CRC.
        #expect(leftOut.allSatisfy { $0.kind == MonitoredPacket.air && $0.octets.count == 10 + 4 + 2 + 3 })
        for followed in [first, again] { followed.world.advance(by: 5_000) }
        #expect(try again.state() == first.state())
        #expect(again.follower.packets.suffix(600) == first.follower.packets.suffix(600))
        #expect(first.follower.packets.count > all.count + 200)
    }

    @Test("an act in the past discards what followed, and one that is refused does not")
    func actInThePast() throws {
        let first = Followed()
        _ = try live(first)
        let again = Followed(repeating: first.world.record)
        again.world.advance(by: 7_000)
        #expect(throws: WorldRefusal.self) { try again.world.perform(.removeWall(0)) }
        #expect(again.world.record == first.world.record)
        try again.world.perform(.move(.phone, Position(x: 5)))
        #expect(again.world.record.end == 7_000)
        #expect(again.world.deeds.map(\.milliseconds) == [4_321, 5_321, 7_000])
        again.world.advance(by: 20_000)
        #expect(again.world.deeds.count == 3)
    }

    @Test("a link whose drop is not over at the last instant ends after it, as it would have")
    func unfinishedDrop() throws {
        let first = Followed()
        first.world.advance(by: 5_000)
        try first.world.dropLink()
        first.world.advance(by: 1_000)
        let again = Followed(repeating: first.world.record)
        again.world.advance(by: 6_000)
        for followed in [first, again] { followed.world.advance(by: 30_000) }
        #expect(first.world.deeds.count == 2)
        #expect(again.world.deeds == first.world.deeds)
        #expect(again.follower.packets == first.follower.packets)
    }
}

/// The values that a runner publishes, and the answers to messages.
private struct Page {
    let values: AsyncStream<PageValue>
    let runner: WorldRunner

    init() {
        let (values, sink) = AsyncStream.makeStream(of: PageValue.self)
        self.values = values
        runner = WorldRunner(seed: 7) { sink.yield($0) }
        runner.begin()
    }

    /// Sends a message, and returns the reason for a refusal.
    func send(_ json: String) async -> String {
        await withCheckedContinuation { answer in
            runner.handle(Array(json.utf8)) { error, _ in answer.resume(returning: error) }
        }
    }

    /// Returns the values up to the end of a leap.
    func leap() async -> [PageValue] {
        var seen: [PageValue] = []
        for await value in values {
            seen.append(value)
            if value.name == PageValue.leapName, value.json == "false" { break }
        }
        return seen
    }
}

private func number(_ name: String, in values: [PageValue]) throws -> Int {
    let json = try #require(values.last { $0.name == "world" }?.json)
    let object = try JSONSerialization.jsonObject(with: Data(json.utf8)) as? [String: Any]
    return try #require(object?[name] as? Int)
}

/// The world on its thread, as the page commands it.
@Suite struct WorldLeapTests {
    @Test("a page goes back to an instant and forward again, and each time gets the world before the leap is over")
    func leaps() async throws {
        let page = Page()
        for _ in 0..<60 { #expect(await page.send(#"{"act":"step"}"#) == "") }
        #expect(await page.send(#"{"act":"goto","amount":0.5}"#) == "")
        page.runner.begin()
        let back = await page.leap()
        #expect(try number("milliseconds", in: back) == 500)
        let last = try number("lastMilliseconds", in: back)
        #expect(last > 500)
        let end = Double(last) / 1_000
        #expect(await page.send(#"{"act":"goto","amount":\#(end)}"#) == "")
        let forward = await page.leap()
        #expect(try number("milliseconds", in: forward) == last)
        #expect(forward.contains { $0.name == "story" })
        #expect(await page.send(#"{"act":"goto","amount":\#(end + 1)}"#).contains("so far"))
        page.runner.stop()
    }

    @Test("while a world is on its way, acts are refused; pause lets it stay where it is")
    func onTheWay() async throws {
        let page = Page()
        for _ in 0..<60 { #expect(await page.send(#"{"act":"step"}"#) == "") }
        // Not begun, so it does not get there.
        #expect(await page.send(#"{"act":"goto","amount":0.5}"#) == "")
        let move = #"{"act":"move","device":"phone","x":1,"y":1}"#
        #expect(await page.send(move).contains("on its way"))
        #expect(await page.send(#"{"act":"pause"}"#) == "")
        let values = await page.leap()
        #expect(try number("milliseconds", in: values) == 0)
        #expect(await page.send(move) == "")
        page.runner.stop()
    }

    @Test("a running world waits for a slow tool, so that Pause does not wait behind a thousand messages")
    func slowTool() async throws {
        let page = Page()
        let loop = VirtualEventLoop()
        let line = WorldLine(page.runner, loop: loop)
        var (arrived, most) = (0, 0)
        line.onReceive = { _ in arrived += 1 }
        line.send(Opening.tool(version: Hello.version).encoded())
        line.send(ToolMessage.ask(number: 1, .monitor(kinds: .max)).encoded())
        line.send(ToolMessage.ask(number: 2, .packets).encoded())
        for act in [#"{"act":"speed","amount":100}"#, #"{"act":"run"}"#] { #expect(await page.send(act) == "") }
        // Reads once for each picture of the world, which come every 100 ms at most.
        for await value in page.values where value.name == "world" {
            arrived = 0
            loop.run(for: .zero)
            most = max(most, arrived)
            if try number("milliseconds", in: [value]) >= 20_000 { break }
        }
        line.close()
        page.runner.stop()
        #expect((1...WorldOutlet.maximumPending / 8).contains(most), "\(most) messages waited")
    }
}

/// A leap of minutes takes minutes under ThreadSanitizer, and has no other threads than shorter ones.
@Suite struct WorldLongLeapTests {
    @Test("after a leap of minutes, a page has the packets that it would have kept without it")
    func longLeap() async throws {
        let (page, loop) = (Page(), NIOEventLoop())
        let (first, second) = (Follower(), Follower())
        let line = follow(page.runner, first, on: loop)
        for act in [#"{"act":"speed","amount":100}"#, #"{"act":"run"}"#] { #expect(await page.send(act) == "") }
        for await value in page.values where value.name == "world" {
            if try number("milliseconds", in: [value]) >= 260_000 { break }
        }
        #expect(await page.send(#"{"act":"pause"}"#) == "")
        #expect(await page.send(#"{"act":"goto","amount":250}"#) == "")
        let other = follow(page.runner, second, on: loop)
        page.runner.begin()
        _ = await page.leap()
        loop.waitFor {}
        let some = second.packets
        let all = first.packets.filter { $0.number <= some.last?.number ?? 0 }
        #expect(some.suffix(PagePackets.maximumPackets) == all.suffix(PagePackets.maximumPackets))
        #expect(some.filter { $0.kind != MonitoredPacket.air } == all.filter { $0.kind != MonitoredPacket.air })
        #expect((PagePackets.maximumPackets..<all.count).contains(some.count), "\(some.count) of \(all.count)")
        for each in [line, other] { each.with { $0.close() } }
        page.runner.stop()
    }

    private func follow(
        _ runner: WorldRunner,
        _ follower: Follower,
        on loop: NIOEventLoop
    ) -> LoopBound<WorldLine> {
        loop.make {
            let line = WorldLine(runner, loop: loop)
            line.onReceive = { message in
                if let reply = try? ToolReply(reading: message) { follower.receive(reply) }
            }
            line.send(Opening.tool(version: Hello.version).encoded())
            line.send(ToolMessage.ask(number: 2, .packets).encoded())
            return line
        }
    }
}
