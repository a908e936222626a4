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
        #expect(json.contains(#"[1,1000000,false,"hci","Reset (0x0c03)",null,null,0,0,0,0,null]"#), "\(json)")
        #expect(json.contains(#"[2,2000000,true,"att","Handle Value Notification: "#), "\(json)")
        #expect(json.contains(#","\#(peer)","com.example.Heart",7,0,0,0,null]"#), "\(json)")
        #expect(json.contains(#","\#(peer)","com.example.Heart",0,6,2,0,null]"#), "\(json)")
        #expect(packets.receive("no JSON") == nil)
    }

    @Test("a page gets all rows that are kept: the last ones at once, and older ones from there back to the first")
    func everyRow() throws {
        var packets = PagePackets()
        #expect(packets.recent.count == 0)
        for start in stride(from: 1, to: 15_000, by: 500) {
            _ = packets.receive(
                try line((start..<start + 500).map { $0 % 3 == 0 ? frame(UInt64($0)) : notification(UInt64($0)) })
            )
        }
        var (numbers, texts): ([Int], [String]) = ([], [packets.recent.json])
        while true {
            let text = try #require(texts.last)
            let found = text.matches(of: /\[(\d+),\d+,(?:true|false)/).compactMap { Int($0.1) }
            guard let first = found.first else { break }
            numbers = found + numbers
            texts.append(packets.rows(before: UInt64(first)).json)
        }
        #expect(numbers == Array(1...15_000))
        #expect(texts.allSatisfy { $0.utf8.count < 256 << 10 })
    }

    @Test("rows with long words are fewer at once")
    func longRows() throws {
        var packets = PagePackets()
        let long = packet(1, [1, 0x20, 204, 0, 200, 0, 4, 0, 0x1B, 3, 0] + [UInt8](repeating: 0x48, count: 197))
        _ = packets.receive(
            try line(
                (1...2_000).map {
                    var each = long
                    each.number = UInt64($0)
                    return each
                }
            )
        )
        #expect((100..<1_000).contains(packets.recent.count), "\(packets.recent.count)")
        #expect(packets.recent.json.utf8.count < 512 << 10)
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

    /// The numbers of the packets that packets answer; 0 for none.
    private func answered(_ all: [MonitoredPacket]) throws -> [Int] {
        var packets = PagePackets()
        _ = packets.receive(try line(all))
        return packets.recent.json.matches(of: /,(\d+),(?:null|-?\d+)\](?=[,\]])/).compactMap { Int($0.1) }
    }

    @Test("a packet has the command or the request that it answers, on its own link and in its direction")
    func answers() throws {
        func attribute(_ number: UInt64, _ link: UInt8, _ pdu: [UInt8], isReceived: Bool) -> MonitoredPacket {
            let length = UInt8(pdu.count)
            return packet(number, [link, 0x20, length + 4, 0, length, 0, 4, 0] + pdu, isReceived: isReceived)
        }
        let all = [
            packet(1, [3, 0x0C, 0], kind: .command, isReceived: false),
            packet(2, [6, 4, 3, 1, 0, 0x13], kind: .command, isReceived: false),
            packet(3, [0x0F, 4, 0, 1, 6, 4], kind: .event),
            packet(4, [0x0E, 4, 1, 3, 0x0C, 0], kind: .event),
            attribute(5, 1, [0x0A, 3, 0], isReceived: false), attribute(6, 2, [0x0A, 3, 0], isReceived: false),
            attribute(7, 1, [0x0A, 9, 0], isReceived: true),
            attribute(8, 2, [0x0B, 1], isReceived: true), notification(9),
            attribute(10, 1, [0x01, 0x0A, 3, 0, 2], isReceived: true),
            attribute(11, 1, [0x1D, 3, 0, 1], isReceived: true), attribute(12, 1, [0x1E], isReceived: false),
            attribute(13, 1, [0x52, 3, 0, 1], isReceived: false), attribute(14, 1, [0x0B, 1], isReceived: true),
        ]
        #expect(try answered(all) == [0, 0, 2, 1, 0, 0, 0, 6, 0, 5, 0, 11, 0, 0])
    }

    /// An advertisement with flags, a service and a name, as a sniffer receives it.
    private func advertisement(_ number: UInt64) -> MonitoredPacket {
        let data: [UInt8] = [2, 1, 6, 3, 3, 0x0D, 0x18, 5, 9, 0x42, 0x65, 0x6C, 0x74]
        let pdu: [UInt8] = [0x40, UInt8(6 + data.count), 1, 2, 3, 4, 5, 0xC6] + data
        let access: [UInt8] = [0xD6, 0xBE, 0x89, 0x8E]
        var packet = packet(number, [0, 0xC4, 0, 0] + access + [0x13, 0x0D] + access + pdu + [0, 0, 0])
        packet.kind = MonitoredPacket.air
        return packet
    }

    @Test("advertising is told in words: on the air, and in reports of a controller")
    func advertising() throws {
        var packets = PagePackets()
        let report: [UInt8] = [
            2, 1, 0, 1, 1, 2, 3, 4, 5, 0xC6, 13, 2, 1, 6, 3, 3, 0x0D, 0x18, 5, 9, 0x42, 0x65, 0x6C, 0x74, 0xC4,
        ]
        let all = [advertisement(1), packet(2, [0x3E, UInt8(report.count)] + report, kind: .event)]
        let received = packets.receive(try line(all))
        let rows = try #require(received).json
        #expect(rows.contains(#"ADV_IND: C6:05:04:03:02:01, name \"Belt\", services Heart Rate (180D)""#), "\(rows)")
        #expect(rows.contains(#"LE Advertising Report: C6:05:04:03:02:01"#), "\(rows)")
        #expect(rows.contains(#"services Heart Rate (180D), ADV_IND, -60 dBm""#), "\(rows)")
        // The signal strength, of the frame and of the report.
        #expect(rows.components(separatedBy: "0,-60]").count == 3, "\(rows)")
        #expect(
            try places(packets, 1) == [
                "AdvA: C6:05:04:03:02:01, 16+6", "Flags: flags general discoverable, no BR/EDR, 22+3",
                "Complete List of 16-bit Service or Service Class UUIDs: services Heart Rate (180D), 25+4",
                #"Complete Local Name: name "Belt", 29+6"#,
            ]
        )
        let fields = try places(packets, 2)
        #expect(
            fields.suffix(5).dropLast() == [
                "Data_Length: 13, 12+1", "Flags: flags general discoverable, no BR/EDR, 13+3",
                "Complete List of 16-bit Service or Service Class UUIDs: services Heart Rate (180D), 16+4",
                #"Complete Local Name: name "Belt", 20+6"#,
            ],
            "\(fields)"
        )
        #expect(fields.last?.hasSuffix(", 26+1") == true, "\(fields)")
    }

    @Test("the fields of a packet have their places in its octets")
    func fields() throws {
        var packets = PagePackets()
        let disconnect = packet(1, [6, 4, 3, 1, 0, 0x13], kind: .command, isReceived: false)
        let complete = packet(2, [0x0E, 4, 1, 3, 0x0C, 0], kind: .event)
        _ = packets.receive(try line([disconnect, complete, notification(3)]))
        let reason = "Reason: remote user terminated (0x13), 5+1"
        #expect(try places(packets, 1) == ["Connection_Handle: 0x1, 3+2", reason])
        #expect(try places(packets, 2) == ["Status: success (0x0), 5+1"])
        #expect(
            try places(packets, 3) == [
                "Handle and flags: handle 0x1, flags 2, 0+2", "Data Total Length: 8, 2+2", "PDU Length: 4, 4+2",
                "Channel ID: 0x4, 6+2", "Attribute Handle: 0x3, 9+2", "Attribute Value: 48, 11+1",
            ]
        )
    }

    /// The fields of all layers of a packet with their places.
    private func places(_ packets: PagePackets, _ number: UInt64) throws -> [String] {
        try parts(packets.details(of: number)).flatMap(\.fields).map {
            "\($0.name): \($0.text), \($0.start)+\($0.count)"
        }
    }

    private struct Details: Decodable {
        struct Part: Decodable {
            let layer: String
            let text: String
            let fields: [Field]
        }

        struct Field: Decodable {
            let name: String
            let text: String
            let start: Int
            let count: Int
        }

        let parts: [Part]
    }

    private func parts(_ details: String?) throws -> [Details.Part] {
        try JSONDecoder().decode(Details.self, from: Data(try #require(details).utf8)).parts
    }

    private func selection(_ runs: UInt64...) -> PagePackets.Selection {
        var selection = PagePackets.Selection()
        let isAdded = selection.add(runs)
        #expect(isAdded)
        return selection
    }

    @Test("packets that a page names are saved with their times and directions, and the losses")
    func saving() throws {
        var packets = PagePackets()
        let sent = packet(1, [3, 0x0C, 0], kind: .command, isReceived: false)
        _ = packets.receive(try line([sent, notification(2), notification(3), notification(4)], lost: 2))
        let some = try records(packets.capture(.btsnoop, selection(1, 2, 1, 1)))
        #expect(some.map(\.unixMicroseconds) == [1_000_000, 2_000_000, 4_000_000])
        #expect(some.map(\.direction) == [.hostToController, .controllerToHost, .controllerToHost])
        #expect(some.last?.packet?.bytes == notification(4).octets)
        #expect(some.last?.drops == 2)
        #expect(try records(packets.capture(.btsnoop, .init())).isEmpty)
        // A page names many packets in several messages.
        var parts = selection(1, 1)
        let isAdded = parts.add([1, 1])
        #expect(isAdded)
        #expect(try records(packets.capture(.btsnoop, parts)).map(\.unixMicroseconds) == [1_000_000, 3_000_000])
    }

    @Test("a selection of more packets than a page has is refused, whatever its numbers")
    func selections() {
        let refused: [[UInt64]] = [[0, 25_001], [0, .max], [1, .max], [.max, 1], [5, 20_000, 1, 5_001]]
        for runs in refused {
            var selection = PagePackets.Selection()
            let isAdded = selection.add(runs)
            #expect(!isAdded, "\(runs)")
        }
        var full = selection(0, 25_000)
        let isAdded = full.add([0, 1])
        #expect(!isAdded)
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
        let file = try records(packets.capture(.pcapng, selection(0, 4)))
        #expect(file.map(\.unixMicroseconds) == [999_990, 1_000_000, 3_000_000])
        #expect(file.map(\.adapter) == [1, 0, 1])
        #expect(file[1].packet?.bytes == notification(1).octets)
        #expect(file[2].content == .frame(linkType: 256, frame(3).octets))
        #expect(try records(packets.capture(.btsnoop, selection(0, 4))).count == 1)
        #expect(try records(packets.capture(.pcapng, selection(2, 2))).count == 2)
        let details = try #require(packets.details(of: 3))
        #expect(try parts(details).map(\.text).last == "Empty PDU")
        #expect(details.contains("access address 0x12345678"))
    }

    @Test("of too many packets, those on the air are forgotten first, up to the half")
    func airBounds() throws {
        var packets = PagePackets(maximumPackets: 20, maximumOctets: 100_000)
        let all = (1...60).map { $0 % 4 == 0 ? notification($0) : frame($0) }
        _ = packets.receive(try line(all))
        #expect(packets.count == 20)
        #expect(try records(packets.capture(.btsnoop, selection(0, 100))).count == 10)
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
