import BluetoothTypes
import Testing

@testable import CaptureStory
@testable import HCI

/// Packets, layer by layer.
@Suite struct PacketDissectorTests {
    /// The packets of a bench, and their summaries.
    private func summaries(_ fill: (inout CaptureBench) -> Void) -> [PacketSummary] {
        var bench = CaptureBench()
        fill(&bench)
        var dissector = PacketDissector()
        return bench.records.compactMap { record in
            guard case .hci(let packet, let direction) = record.content else { return nil }
            return dissector.receive(packet, direction).summary
        }
    }

    @Test("a command and an event are named with their fields")
    func commands() {
        let found = summaries { $0.command(Reset()) }
        #expect(found.map(\.layer) == [.hci])
        #expect(found[0].text.hasPrefix("Reset"), "\(found)")
    }

    @Test("a value is named by its attribute and in words, once the attribute was discovered")
    func attributes() {
        let found = summaries { bench in
            bench.pdu(4, [0x1B, 3, 0, 0, 72], isSent: false)
            // The characteristic Heart Rate Measurement at handle 3.
            bench.request([0x08, 1, 0, 0xFF, 0xFF, 0x03, 0x28], [0x09, 7, 2, 0, 0x10, 3, 0, 0x37, 0x2A])
            bench.pdu(4, [0x1B, 3, 0, 0, 72], isSent: false)
        }
        #expect(found.map(\.layer) == [.att, .att, .att, .att])
        #expect(found[0].text.hasPrefix("Handle Value Notification: "))
        #expect(!found[0].text.contains("Heart Rate"))
        #expect(found[1].text.hasPrefix("Read By Type Request: "))
        #expect(found[3].text.contains("Heart Rate Measurement (2A37): "), "\(found[3])")
        #expect(found[3].text.contains("72"))
    }

    @Test("a PDU in fragments is named where it ends, and shows its layers there")
    func fragments() {
        var bench = CaptureBench()
        bench.pdu(4, [0x1B, 3, 0] + [UInt8](repeating: 0x41, count: 20), isSent: false, fragment: 10)
        var dissector = PacketDissector()
        let packets = bench.records.compactMap(\.packet)
        let found = packets.map { dissector.receive($0, .controllerToHost).summary }
        #expect(found.map(\.layer) == [.l2cap, .l2cap, .att])
        #expect(found[0].text == "the beginning of a PDU, 10 octets")
        let parts = dissector.parts(of: packets[2], .controllerToHost, after: Array(packets[..<2]))
        #expect(parts.map(\.layer) == [.hci, .l2cap, .att])
        #expect(parts[1].text == "the attribute channel, 23 octets, in 3 packets")
        #expect(dissector.parts(of: packets[1], .controllerToHost, after: [packets[0]]).count == 2)
    }

    @Test("of the Security Manager's commands, those without keys are shown")
    func security() {
        let found = summaries { bench in
            bench.pdu(6, [0x01, 4, 0, 13, 16, 3, 3], isSent: true)
            bench.pdu(6, [0x04] + [UInt8](repeating: 0x99, count: 16), isSent: false)
        }
        #expect(found.map(\.layer) == [.smp, .smp])
        #expect(found[0].text.hasPrefix("Pairing Request: ") && !found[0].text.hasSuffix("secret"), "\(found[0])")
        #expect(found[1].text == "Pairing Random: secret")
    }

    /// The fields of the topmost layer of a PDU in one packet, with their places.
    private func fields(_ channel: UInt16, _ pdu: [UInt8]) throws -> [String] {
        var bench = CaptureBench()
        bench.pdu(channel, pdu, isSent: true)
        let packet = try #require(bench.records.first?.packet)
        let part = try #require(PacketDissector().parts(of: packet, .hostToController, after: []).last)
        return part.fields.map { "\($0.name): \($0.text), \($0.start)+\($0.count)" }
    }

    @Test("the fields of signalling commands have their names and places, of each command that Harald knows")
    func signalling() throws {
        #expect(
            try fields(5, [0x12, 7, 8, 0, 24, 0, 40, 0, 0, 0, 100, 0]) == [
                "Interval_Min: 0x18, 12+2", "Interval_Max: 0x28, 14+2", "Latency: 0x0, 16+2", "Timeout: 0x64, 18+2",
            ]
        )
        #expect(try fields(5, [0x16, 1, 4, 0, 0x40, 0, 5, 0]) == ["CID: channel 0x40, 12+2", "Credits: 0x5, 14+2"])
        for code: UInt8 in [0x01, 0x06, 0x07, 0x12, 0x13, 0x14, 0x15, 0x16, 0x17, 0x18, 0x19, 0x1A] {
            // Some length is that of the command.
            let all = try (1...12).map { try fields(5, [code, 1, $0, 0] + [UInt8](repeating: 0x41, count: Int($0))) }
            #expect(all.contains { !$0.isEmpty }, "code \(code)")
        }
        #expect(try fields(5, [0x12, 7, 2, 0, 24, 0]) == [])
        #expect(try fields(5, [0x77, 7, 0, 0]) == [])
    }

    @Test("of the Security Manager's commands, those without keys have fields")
    func securityFields() throws {
        #expect(try fields(6, [0x0B, 0x0D]) == ["AuthReq: [bonding, MITM, SC], 9+1"])
        #expect(try fields(6, [0x05, 8]).count == 1)
        let features = try fields(6, [0x01, 4, 0, 13, 16, 3, 3])
        #expect(features.map { $0.split(separator: " ").last } == (9...14).map { "\($0)+1" })
        let secrets = [0x03: 16, 0x04: 16, 0x06: 16, 0x07: 10, 0x08: 16, 0x0A: 16, 0x0C: 64, 0x0D: 16]
        for (code, count) in secrets {
            #expect(try fields(6, [UInt8(code)] + [UInt8](repeating: 0x99, count: count)) == [], "code \(code)")
        }
    }

    @Test("a malformed packet is named as such, and no input traps")
    func malformed() {
        var dissector = PacketDissector()
        for kind in HCIPacket.Kind.allCases {
            for length in 0..<24 {
                for first in [0x00, 0x05, 0x0E, 0x3E, 0x40] as [UInt8] {
                    let octets = [first, 0x20, UInt8(max(0, length - 4)), 0, 1, 0, 4, 0, 0x1B].prefix(length)
                    let packet = HCIPacket(kind, PacketBuffer(Array(octets)))
                    #expect(!dissector.receive(packet, .controllerToHost).summary.text.isEmpty)
                    #expect(!dissector.parts(of: packet, .hostToController, after: [packet]).isEmpty)
                }
            }
        }
    }
}
