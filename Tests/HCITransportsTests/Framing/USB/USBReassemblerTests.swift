import BluetoothTypes
import HCI
import HCITransports
import Testing

@Suite struct USBReassemblerTests {
    private static let events: [UInt8] = [
        0x0E, 0x04, 0x01, 0x03, 0x0C, 0x00,  // Command Complete of HCI_Reset
        0x13, 0x05, 0x01, 0x40, 0x00, 0x01, 0x00,  // Number Of Completed Packets
        0x10, 0x00,  // an event without parameters
    ]
    private static let data: [UInt8] = [0x40, 0x20, 0x05, 0x00, 1, 2, 3, 4, 5, 0x40, 0x10, 0x00, 0x00]

    private static func parts(_ octets: [UInt8], at cut: Int) -> [[UInt8]] {
        [Array(octets[..<cut]), Array(octets[cut...])]
    }

    @Test("a transfer is not a packet: each pipe may split at every octet", arguments: [USBPipe.interrupt, .bulk])
    func aPipeMaySplitAtEveryOctet(pipe: USBPipe) {
        let octets = pipe == .bulk ? Self.data : Self.events
        let kind = pipe == .bulk ? HCIPacket.Kind.acl : .event
        var whole = USBReassembler()
        let expected = whole.reassemble(octets, from: pipe)
        #expect(expected.map(\.kind) == [HCIPacket.Kind](repeating: kind, count: pipe == .bulk ? 2 : 3))
        #expect(expected.flatMap(\.bytes.bytes) == octets)
        for cut in 0...octets.count {
            var parts = USBReassembler()
            #expect(
                Self.parts(octets, at: cut).flatMap { parts.reassemble($0, from: pipe) } == expected,
                "cut at \(cut)"
            )
            #expect(parts.pendingLength == 0)
        }
        var single = USBReassembler()
        #expect(octets.flatMap { single.reassemble([$0], from: pipe) } == expected)
    }

    @Test func pipesDoNotMeet() {
        var reassembler = USBReassembler()
        #expect(reassembler.reassemble([0x0E, 0x04, 0x01], from: .interrupt).isEmpty)
        #expect(reassembler.reassemble(Self.data, from: .bulk).count == 2)
        #expect(
            reassembler.reassemble([0x03, 0x0C, 0x00], from: .interrupt) == [
                HCIPacket(.event, [0x0E, 4, 1, 3, 0x0C, 0])
            ]
        )
        #expect(reassembler.reassemble([1, 2, 3], from: .control).isEmpty)
    }

    @Test("nothing counts before the answer to a reset, neither the rest of an event nor data")
    func theRestOfAnotherHostsPacketsIsNothing() {
        for cut in 0...Self.events.count {
            var reassembler = USBReassembler(isResynchronizing: true)
            var packets = reassembler.reassemble([0xFF, 0x0E, 0x04, 0x3E], from: .interrupt)
            packets += reassembler.reassemble([0x40, 0x20, 0xFF, 0xFF, 1], from: .bulk)
            packets += Self.parts(Self.events, at: cut).flatMap { reassembler.reassemble($0, from: .interrupt) }
            packets += reassembler.reassemble(Self.data, from: .bulk)
            #expect(packets.map(\.kind) == [.event, .event, .event, .acl, .acl], "cut at \(cut)")
        }
    }

    @Test("Core 6.2 Vol 4 Part B: in Bulk Serialization Mode packets of all kinds arrive on one pipe, with their types")
    func allKindsComeByBulkEndpoints() {
        let stream = [4] + Self.events.prefix(6) + [2] + Self.data.prefix(9) + [4] + Self.events.suffix(2)
        for cut in 0...stream.count {
            var reassembler = USBReassembler(isSerialized: true, isResynchronizing: true)
            let packets = Self.parts(stream, at: cut).flatMap { reassembler.reassemble($0, from: .bulk) }
            #expect(packets.map(\.kind) == [.event, .acl, .event], "cut at \(cut)")
            #expect(reassembler.reassemble(Self.events, from: .interrupt).isEmpty)
        }
        var reassembler = USBReassembler(isSerialized: true)
        #expect(reassembler.reassemble([9, 1, 2], from: .bulk).isEmpty)
        #expect(reassembler.failure == PacketError(.value(9), at: "H4 packet type"))
    }

    @Test("AB-H02: a packet that never ends is bounded")
    func aPacketThatNeverEndsIsBounded() {
        var reassembler = USBReassembler()
        #expect(reassembler.reassemble([0x40, 0x20, 0xFF, 0xFF], from: .bulk).isEmpty)
        #expect(reassembler.reassemble([0x3E, 0xFF], from: .interrupt).isEmpty)
        var longest = 0
        for _ in 0..<3_000 {
            _ = reassembler.reassemble([UInt8](repeating: 0xFF, count: 64), from: .bulk)
            _ = reassembler.reassemble([UInt8](repeating: 0xFF, count: 16), from: .interrupt)
            longest = max(longest, reassembler.pendingLength)
        }
        #expect(longest <= H4Parser.maximumPacketLength + 257)
    }
}
