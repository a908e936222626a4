import BluetoothTypes
import EventLoops
import Foundation
import HCI
import SampleMessages
import ServiceMessages
import Testing

@testable import Administration
@testable import BluetoothService

/// The packets that a tool follows.
@Suite struct PacketStreamTests {
    private final class Tool {
        private(set) var replies: [ToolReply] = []
        private(set) var conversation: ToolConversation?

        init(_ system: BluetoothSystem) {
            conversation = ToolConversation(system: system, rights: .control) { [unowned self] in replies.append($0) }
        }

        /// The batches in the stream 1 since the last call.
        func batches() throws -> [PacketBatch] {
            defer { replies = [] }
            return try replies.compactMap { reply -> PacketBatch? in
                guard case .event(1, let text) = reply else { return nil }
                return try JSONDecoder().decode(PacketBatch.self, from: Data(text.utf8))
            }
        }

        func packets() throws -> [MonitoredPacket] {
            try batches().flatMap { batch throws(PacketError) in try batch.packets() }
        }
    }

    private func follow(_ system: BluetoothSystem) -> Tool {
        let tool = Tool(system)
        tool.conversation?.handle(.ask(number: 1, .packets))
        return tool
    }

    @Test("packets come together, in order, with their device, and with the request that caused them")
    func causes() throws {
        let pair = try ConnectedPair()
        let location = try #require(try pair.connected()[Example.location])
        let tool = follow(pair.phone.system)
        tool.conversation?.handle(.ask(number: 2, .monitor(kinds: Observation.Kinds.messages.rawValue)))
        pair.central.send(.readCharacteristic(peer: pair.peer, characteristic: location))
        pair.world.run(.seconds(1))
        let events = tool.replies.compactMap { reply -> MonitoredEvent? in
            guard case .event(2, let text) = reply else { return nil }
            return try? JSONDecoder().decode(MonitoredEvent.self, from: Data(text.utf8))
        }
        let packets = try tool.packets()
        #expect(packets.map(\.number) == Array(1...UInt64(packets.count)))
        #expect(packets.map(\.time) == packets.map(\.time).sorted())
        // Read Request, and its response (Core Vol 3 Part F 3.4.4.3).
        let data = packets.filter { $0.kind == HCIPacket.Kind.acl.rawValue }
        let request = try #require(data.first { $0.octets.count > 8 && $0.octets[8] == 0x0A })
        let response = try #require(data.first { $0.octets.count > 8 && $0.octets[8] == 0x0B })
        #expect(data.allSatisfy { $0.peer == pair.peer })
        let asked = try #require(events.first { $0.message?.name == "readCharacteristic" }, "\(events)")
        let told = try #require(events.first { $0.message?.direction == .event && $0.number > asked.number })
        #expect(request.cause == asked.number)
        #expect(!request.isReceived)
        #expect(response.isReceived)
        #expect(response.firstEvent <= told.number)
        #expect(told.number < response.firstEvent + UInt64(response.events))
        tool.conversation?.handle(.stop(number: 1))
        #expect(tool.replies == [.answer(number: 1, .success(#"{"lost":0}"#))])
        pair.central.send(.readCharacteristic(peer: pair.peer, characteristic: location))
        pair.world.run(.seconds(1))
        #expect(try tool.packets().isEmpty)
    }

    @Test("an advertisement names its device")
    func advertisements() throws {
        let pair = try ConnectedPair()
        let tool = follow(pair.phone.system)
        pair.central.send(.startScan(ScanRequest(services: [Example.service], allowsDuplicates: true)))
        pair.world.run(.seconds(1))
        let reports = try tool.packets().filter { $0.kind == 4 && [0x02, 0x0D].contains($0.octets[2]) }
        #expect(!reports.isEmpty)
        #expect(reports.allSatisfy { $0.peer == pair.peer })
    }

    @Test("frames on the air come beside the packets, with the first of their devices that is known")
    func air() throws {
        let pair = try ConnectedPair()
        let system = pair.phone.system
        let frame = PacketBuffer([1, 2, 3])
        system.tap.recordPacket(frame, at: .zero, isReceived: true, of: [])
        let tool = follow(system)
        let known = try #require(system.address(of: pair.peer))
        let stranger = BluetoothAddress(1, kind: .publicDevice)
        let name = String(repeating: "\u{E9}", count: 100)
        system.tap.recordPacket(
            frame,
            at: Instant(microseconds: 7),
            from: "Belt",
            isReceived: true,
            of: [stranger, known]
        )
        system.tap.recordPacket(frame, at: Instant(microseconds: 9), from: name, isReceived: false, of: [stranger])
        pair.world.run(.seconds(1))
        let frames = try tool.packets().filter { $0.kind == MonitoredPacket.air }
        #expect(frames.map(\.octets) == [frame, frame])
        #expect(frames.map(\.peer) == [pair.peer, nil])
        #expect(frames.map(\.isReceived) == [true, false])
        #expect(frames.map(\.sender) == ["Belt", String(repeating: "\u{E9}", count: 32)])
        #expect(frames.allSatisfy { $0.packet == nil })
        #expect(frames.map(\.number).last == frames.map(\.number).first.map { $0 + 1 })
    }

    @Test("AB-G05: packets that a tool does not read are bounded, counted, and reported when it reads again")
    func losses() throws {
        let phone = ServiceWorld().device("Phone")
        let tool = follow(phone.system)
        tool.conversation?.canSend = false
        let packet = HCIPacket(.event, PacketBuffer([0xFF, 1, 0]))
        for _ in 0..<PacketStream.maximumPackets + 7 { phone.system.tap.sent(packet) }
        phone.system.loop.execute {}
        #expect(tool.replies.isEmpty)
        tool.conversation?.canSend = true
        tool.conversation?.handle(.stop(number: 1))
        let batch = try #require(try tool.batches().first)
        #expect(batch.lost == 7)
        #expect(try batch.packets().count == PacketStream.maximumPackets)
    }

    @Test("in a hurry, packets come in full messages, and the rest at once at the end")
    func fullMessages() throws {
        let phone = ServiceWorld().device("Phone")
        let tool = follow(phone.system)
        tool.conversation?.fillsMessages = true
        let packet = HCIPacket(.event, PacketBuffer([0xFF, 1, 0]))
        for _ in 0..<PacketStream.maximumPackets * 2 + 7 { phone.system.tap.sent(packet) }
        var batches = try tool.batches()
        let full = PacketStream.maximumPackets
        #expect(try batches.map { try $0.packets().count } == [full, full])
        tool.conversation?.flush()
        batches += try tool.batches()
        #expect(batches.map(\.lost) == [0, 0, 0])
        #expect(try batches.last?.packets().count == 7)
        tool.conversation?.showsAir = false
        phone.system.tap.recordPacket(PacketBuffer([1]), at: phone.system.loop.now, isReceived: true, of: [])
        phone.system.tap.passFrames(2)
        phone.system.tap.sent(packet)
        tool.conversation?.flush()
        let last = try #require(try tool.batches().last?.packets())
        #expect(last.map(\.number) == [UInt64(full * 2 + 7 + 1 + 2 + 1)])
    }

    @Test("AB-G02: the longest packets that wait fit in one message")
    func longestBatch() throws {
        let phone = ServiceWorld().device("Phone")
        let tool = follow(phone.system)
        let packet = HCIPacket(.acl, PacketBuffer([UInt8](repeating: 7, count: 4_096)))
        for _ in 0..<1_000 { phone.system.tap.sent(packet) }
        let frame = PacketBuffer([1])
        let name = String(repeating: "x", count: 100)
        for _ in 0..<5_000 { phone.system.tap.recordPacket(frame, at: .zero, from: name, isReceived: true, of: []) }
        tool.conversation?.handle(.stop(number: 1))
        let texts = tool.replies.compactMap { if case .event(1, let text) = $0 { text } else { nil } }
        #expect(texts.allSatisfy { $0.utf8.count <= ToolReply.maximumText })
        let batch = try #require(try tool.batches().first)
        #expect(batch.lost + (try batch.packets().count) == 6_000)
        #expect(batch.data.count <= PacketStream.maximumOctets)
    }

    @Test("AB-G05: the streams of packets are bounded in all, and a tool that is gone frees its own")
    func listeners() {
        let phone = ServiceWorld().device("Phone")
        var tools = (0..<PacketTap.maximumListeners).map { _ in follow(phone.system) }
        #expect(tools.allSatisfy { $0.replies.isEmpty })
        let refused = follow(phone.system)
        guard case .answer(1, .failure(let error))? = refused.replies.last else {
            return #expect(Bool(false), "not refused")
        }
        #expect(error.code == .core(.outOfSpace))
        tools.removeLast().conversation?.close()
        let last = follow(phone.system)
        #expect(last.replies.isEmpty)
        last.conversation?.close()
    }

    @Test("malformed packets of a line are an error")
    func malformed() throws {
        var packet = MonitoredPacket()
        (packet.peer, packet.octets) = (.blank, [1, 2, 3])
        let whole = PacketBatch([packet, packet], lost: 1)
        #expect(try whole.packets() == [packet, packet])
        for length in 1..<whole.data.count where length != whole.data.count / 2 {
            var cut = whole
            cut.data = whole.data.prefix(length)
            #expect(throws: PacketError.self) { try cut.packets() }
        }
    }
}
