import Administration
import BluetoothService
import BluetoothTypes
import Foundation
import HCI
import Testing

@testable import Page

/// The packets that pages show and save.
@Suite struct PagePacketsTests {
    private let peer = UUID()

    private func packet(
        _ number: UInt64,
        _ octets: [UInt8],
        kind: HCIPacket.Kind = .acl,
        isReceived: Bool = true,
        cause: UInt64 = 0,
        events: (first: UInt64, count: UInt16) = (0, 0)
    ) -> MonitoredPacket {
        var packet = MonitoredPacket()
        (packet.number, packet.time, packet.kind) = (number, 1_000_000 * Int64(number), kind.rawValue)
        (packet.isReceived, packet.cause) = (isReceived, cause)
        (packet.firstEvent, packet.events) = (events.first, events.count)
        packet.octets = PacketBuffer(octets)
        if kind == .acl { packet.peer = peer }
        return packet
    }

    /// A notification of the value at handle 3.
    private func notification(_ number: UInt64, cause: UInt64 = 0) -> MonitoredPacket {
        packet(number, [1, 0x20, 8, 0, 4, 0, 4, 0, 0x1B, 3, 0, 0x48], cause: cause)
    }

    private func line(_ packets: [MonitoredPacket], lost: Int = 0) throws -> String {
        String(decoding: try JSONEncoder().encode(PacketBatch(packets, lost: lost)), as: UTF8.self)
    }

    private func event(_ number: UInt64, app: String) throws -> MonitoredEvent {
        let text = #"{"number":\#(number),"time":1,"app":"\#(app)","kind":"messages","text":"x"}"#
        return try JSONDecoder().decode(MonitoredEvent.self, from: Data(text.utf8))
    }

    private func records(_ file: [UInt8]) throws -> [CaptureRecord] { try CaptureReader.records(of: file) }

    @Test("packets become rows with their layer, device, and the app of the event that caused them or that they caused")
    func rows() throws {
        var packets = PagePackets()
        packets.note(try event(7, app: "com.example.Heart"))
        let sent = packet(1, [3, 0x0C, 0], kind: .command, isReceived: false)
        let all = [sent, notification(2, cause: 7), packet(3, [1, 0x20, 0, 0], events: (6, 2))]
        let received = packets.receive(try line(all, lost: 4))
        let rows = try #require(received)
        #expect(rows.count == 3)
        let json = rows.json
        #expect(json.contains(#""lost":4"#))
        #expect(json.contains(#"[1,1000000,false,"hci","Reset (0x0c03)",null,null,0,0,0]"#), "\(json)")
        #expect(json.contains(#"[2,2000000,true,"att","Handle Value Notification: "#), "\(json)")
        #expect(json.contains(#","\#(peer)","com.example.Heart",7,0,0]"#), "\(json)")
        #expect(json.contains(#","\#(peer)","com.example.Heart",0,6,2]"#), "\(json)")
        #expect(packets.receive("no JSON") == nil)
    }

    @Test("a page that begins to follow gets the last rows in order, up to a size")
    func recent() throws {
        var packets = PagePackets()
        #expect(packets.recent.isEmpty)
        for start in stride(from: 1, to: 15_000, by: 500) {
            _ = packets.receive(try line((0..<500).map { notification(UInt64(start + $0)) }))
        }
        let recent = packets.recent
        #expect(recent.count > 1)
        #expect(recent.last?.contains("[15000,") == true)
        #expect(recent.first?.contains("[1,") == false)
        #expect((400 << 10...640 << 10).contains(recent.reduce(0) { $0 + $1.utf8.count }))
        let numbers = recent.joined().matches(of: /\[(\d+),\d+,(?:true|false)/).compactMap { Int($0.1) }
        #expect(numbers == Array((15_001 - numbers.count)...15_000))
    }

    @Test("one packet is shown in layers with its octets, also at the end of a PDU in parts")
    func details() throws {
        var packets = PagePackets()
        let parts = [
            packet(4, [1, 0x20, 6, 0, 5, 0, 4, 0, 0x1B, 3]), packet(5, [2, 0x20, 1, 0, 9]),
            packet(6, [1, 0x10, 3, 0, 0, 0x48, 0x49]),
        ]
        _ = packets.receive(try line(parts))
        let details = try #require(packets.details(of: 6))
        #expect(details.contains(#""octets":"01100300004849""#), "\(details)")
        #expect(details.contains("in 2 packets"))
        #expect(details.contains("Handle Value Notification"))
        #expect(packets.details(of: 7) == nil)
        #expect(packets.details(of: 0) == nil)
    }

    @Test("packets that a filter selects are saved with their times and directions, and the losses")
    func saving() throws {
        var packets = PagePackets()
        packets.note(try event(7, app: "Heart"))
        let sent = packet(1, [3, 0x0C, 0], kind: .command, isReceived: false)
        _ = packets.receive(try line([sent, notification(2, cause: 7), notification(3)], lost: 2))
        let all = try records(packets.capture(.btsnoop, .init()))
        #expect(all.map(\.unixMicroseconds) == [1_000_000, 2_000_000, 3_000_000])
        #expect(all.map(\.direction) == [.hostToController, .controllerToHost, .controllerToHost])
        #expect(all.last?.packet?.bytes == notification(3).octets)
        #expect(all.last?.drops == 2)
        func count(_ query: String) throws -> Int { try records(packets.capture(.btsnoop, .init(query: query))).count }
        #expect(try count("layer=att") == 2)
        #expect(try count("layer=hci&text=RESET") == 1)
        #expect(try count("app=Heart") == 1)
        #expect(try count("device=\(peer)") == 2)
        #expect(try count("device=\(UUID())") == 0)
        #expect(try count("text=%20notification") == 2)
        #expect(try count("%%%=&&&") == 3)
    }

    /// An empty PDU on a link, as a sniffer receives it.
    private func frame(_ number: UInt64, at time: Int64? = nil) -> MonitoredPacket {
        let link: [UInt8] = [0x78, 0x56, 0x34, 0x12]
        var packet = packet(number, [20, 0xC4, 0, 0] + link + [0x13, 0x0D] + link + [1, 0, 0, 0, 0])
        packet.kind = MonitoredPacket.air
        if let time { packet.time = time }
        return packet
    }

    @Test("frames on the air are a layer, and are saved as pcapng beside HCI packets, in the order of their times")
    func air() throws {
        var packets = PagePackets()
        let received = packets.receive(try line([notification(1), frame(2, at: 999_990), frame(3)]))
        #expect(received?.json.contains(#"[2,999990,true,"air","Empty PDU","#) == true, "\(received?.json ?? "")")
        let file = try records(packets.capture(.pcapng, .init()))
        #expect(file.map(\.unixMicroseconds) == [999_990, 1_000_000, 3_000_000])
        #expect(file.map(\.adapter) == [1, 0, 1])
        #expect(file[1].packet?.bytes == notification(1).octets)
        #expect(file[2].content == .frame(linkType: 256, frame(3).octets))
        #expect(try records(packets.capture(.btsnoop, .init())).count == 1)
        #expect(try records(packets.capture(.pcapng, .init(query: "layer=air&text=empty"))).count == 2)
        #expect(try records(packets.capture(.pcapng, .init(query: "empty=no"))).count == 1)
        let details = try #require(packets.details(of: 3))
        #expect(details.contains(#"{"layer":"air","text":"Empty PDU"}"#), "\(details)")
        #expect(details.contains("access address 0x12345678"))
    }

    @Test("of too many packets, those on the air are forgotten first, up to the half")
    func airBounds() throws {
        var packets = PagePackets(maximumPackets: 20, maximumOctets: 100_000)
        let all = (1...60).map { $0 % 4 == 0 ? notification($0) : frame($0) }
        _ = packets.receive(try line(all))
        #expect(packets.count == 20)
        #expect(try records(packets.capture(.btsnoop, .init())).count == 10)
        let kept = (1...60).filter { packets.details(of: UInt64($0)) != nil }
        #expect(kept.filter { $0 % 4 == 0 } == Array(stride(from: 24, through: 60, by: 4)))
        #expect(kept.filter { $0 % 4 != 0 } == (47...60).filter { $0 % 4 != 0 }.suffix(10))
    }

    @Test("the packets that are kept are bounded by their number and by their octets")
    func bounds() throws {
        var packets = PagePackets(maximumPackets: 20, maximumOctets: 1_000)
        _ = packets.receive(try line((1...25).map { notification($0) }))
        #expect(packets.count == 20)
        #expect(packets.details(of: 5) == nil)
        #expect(packets.details(of: 6) != nil)
        _ = packets.receive(try line((101...105).map { packet($0, [UInt8](repeating: 7, count: 300)) }))
        #expect(packets.count == 3)
        #expect(packets.details(of: 102) == nil)
        #expect(packets.details(of: 105) != nil)
    }
}
