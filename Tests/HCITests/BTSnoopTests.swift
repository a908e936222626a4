import BluetoothTypes
import EventLoops
import Testing

@testable import HCI

@Suite struct BTSnoopTests {
    /// Written by hand from the description of the format.
    static let expected: [UInt8] = [
        // "btsnoop", version 1, datalink type 1002.
        0x62, 0x74, 0x73, 0x6E, 0x6F, 0x6F, 0x70, 0x00, 0x00, 0x00, 0x00, 0x01, 0x00, 0x00, 0x03, 0xEA,
        // HCI Reset: four octets, sent, a command; 2000-01-01 00:00:00 UTC.
        0x00, 0x00, 0x00, 0x04, 0x00, 0x00, 0x00, 0x04, 0x00, 0x00, 0x00, 0x02, 0x00, 0x00, 0x00, 0x00,
        0x00, 0xE0, 0x3A, 0xB4, 0x4A, 0x67, 0x60, 0x00, 0x01, 0x03, 0x0C, 0x00,
        // Its Command Complete: received, an event, 5 µs later.
        0x00, 0x00, 0x00, 0x07, 0x00, 0x00, 0x00, 0x07, 0x00, 0x00, 0x00, 0x03, 0x00, 0x00, 0x00, 0x00,
        0x00, 0xE0, 0x3A, 0xB4, 0x4A, 0x67, 0x60, 0x05, 0x04, 0x0E, 0x04, 0x01, 0x03, 0x0C, 0x00,
        // Data: received 1 ms later, after two dropped packets.
        0x00, 0x00, 0x00, 0x06, 0x00, 0x00, 0x00, 0x06, 0x00, 0x00, 0x00, 0x01, 0x00, 0x00, 0x00, 0x02,
        0x00, 0xE0, 0x3A, 0xB4, 0x4A, 0x67, 0x63, 0xE8, 0x02, 0x40, 0x20, 0x01, 0x00, 0xAA,
    ]
    static let year2000: Int64 = 946_684_800_000_000
    static let acl = HCIPacket(ACLPacket(handle: .init(rawValue: 0x40), boundary: .start, payload: [0xAA]))

    @Test func theFileIsAsTheFormatSays() {
        let writer = BTSnoopWriter(unixMicrosecondsAtZero: Self.year2000)
        var file = writer.header
        file += writer.record(HCIPacket(Reset()), .hostToController, at: .zero)
        file += writer.record(
            HCIPacket(CommandComplete(Reset.self, StatusOnly())),
            .controllerToHost,
            at: Instant(microseconds: 5)
        )
        file += writer.record(Self.acl, .controllerToHost, at: Instant(microseconds: 1_000), drops: 2)
        #expect(file == Self.expected)
    }

    @Test func aFileComesBackAsPackets() throws {
        let records = try CaptureReader.records(of: Self.expected)
        try #require(records.count == 3)
        let (first, second, third) = (records[0], records[1], records[2])
        #expect(first.packet == HCIPacket(Reset()))
        #expect(first.direction == .hostToController)
        #expect(first.unixMicroseconds == Self.year2000)
        #expect(second.direction == .controllerToHost)
        #expect(second.unixMicroseconds == Self.year2000 + 5)
        #expect(third.packet == Self.acl)
        #expect(third.drops == 2)
    }

    @Test func aFileThatEndsAnywhereIsReadUpToThere() {
        let ends = [16, 16 + 28, 16 + 28 + 31, Self.expected.count]
        for length in 0...Self.expected.count {
            var packets = 0
            var failed = false
            do throws(CaptureReadingError) {
                var reader = CaptureReader()
                reader.receive(Self.expected.prefix(length))
                while try reader.next() != nil { packets += 1 }
                try reader.finish()
            } catch {
                failed = true
            }
            #expect(failed == !ends.contains(length))
            #expect(packets == max(0, ends.filter { $0 <= length }.count - 1))
        }
    }

    @Test(arguments: [(0, UInt8(0x63)), (11, 2), (15, 0xE8), (16, 0xFF), (19, 0), (40, 9)])
    func anotherFileIsRefused(offset: Int, value: UInt8) {
        var file = Self.expected
        file[offset] = value
        #expect(throws: CaptureReadingError.self) { try CaptureReader.records(of: file) }
    }

    @Test func bothDirectionsAreSeenFromEitherEnd() {
        for end in [HCIEnd.host, .controller] {
            let loop = VirtualEventLoop()
            let line = InMemoryTransport.pair(loop: loop)
            var seen: [HCIDirection] = []
            var received = 0
            var arrived = 0
            var closed = 0
            let transport = SnoopingTransport(line.host, end: end, loop: loop) { _, direction, _ in
                seen.append(direction)
            }
            transport.onReceive = { _ in received += 1 }
            transport.onClose = { _ in closed += 1 }
            line.controller.onReceive = { _ in arrived += 1 }
            transport.send(HCIPacket(Reset()))
            loop.run(for: .seconds(1))
            line.controller.send(Self.acl)
            loop.run(for: .seconds(1))
            line.controller.close()
            loop.run(for: .seconds(1))
            #expect(
                seen
                    == (end == .host
                        ? [.hostToController, .controllerToHost] : [.controllerToHost, .hostToController])
            )
            #expect(received == 1)
            #expect(arrived == 1)
            #expect(closed == 1)
        }
    }

    @Test func closingGoesThrough() {
        let loop = VirtualEventLoop()
        let line = InMemoryTransport.pair(loop: loop)
        let transport = SnoopingTransport(line.host, end: .host, loop: loop) { _, _, _ in }
        var isClosed = false
        line.controller.onClose = { _ in isClosed = true }
        transport.close()
        loop.run(for: .seconds(1))
        #expect(isClosed)
    }
}

/// Files with packets of several kinds, as the reader of captures reads them.
@Suite struct PcapngWriterTests {
    private static let reset = HCIPacket(Reset())

    @Test("HCI packets and frames of the air on two interfaces are read as they were written")
    func bothInterfaces() throws {
        var file = PcapngWriter.header([.hci, .air])
        let sent = PcapngWriter.content(of: Self.reset, .hostToController)
        file += PcapngWriter.record(sent, on: 0, at: BTSnoopTests.year2000)
        file += PcapngWriter.record([1, 2, 3], on: 1, at: BTSnoopTests.year2000 + 5, comment: "Belt")
        let received = PcapngWriter.content(of: BTSnoopTests.acl, .controllerToHost)
        file += PcapngWriter.record(received, on: 0, at: BTSnoopTests.year2000 + 9)
        let records = try CaptureReader.records(of: file)
        #expect(records.map(\.unixMicroseconds) == [0, 5, 9].map { BTSnoopTests.year2000 + $0 })
        #expect(records.map(\.adapter) == [0, 1, 0])
        #expect(records[0].content == .hci(Self.reset, .hostToController))
        #expect(records[1].content == .frame(linkType: 256, [1, 2, 3]))
        #expect(records[2].content == .hci(BTSnoopTests.acl, .controllerToHost))
    }

    @Test("a time before 1970 is written as 0")
    func negativeTime() throws {
        let file = PcapngWriter.header([.air]) + PcapngWriter.record([1], on: 0, at: -1)
        #expect(try CaptureReader.records(of: file).map(\.unixMicroseconds) == [0])
    }
}
