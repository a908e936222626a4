import BluetoothTypes
import Testing

@testable import HCI

/// Capture files of all formats, written by hand from their descriptions.
@Suite struct CaptureReaderTests {
    private static let reset: [UInt8] = [0x03, 0x0C, 0x00]
    private static let complete: [UInt8] = [0x0E, 0x04, 0x01, 0x03, 0x0C, 0x00]
    private static let sentData: [UInt8] = [0x40, 0x00, 0x01, 0x00, 0xAA]
    private static let receivedData: [UInt8] = [0x40, 0x20, 0x01, 0x00, 0xBB]

    /// The four packets that all files have.
    private static let contents: [CaptureRecord.Content] = [
        .hci(HCIPacket(.command, PacketBuffer(reset)), .hostToController),
        .hci(HCIPacket(.event, PacketBuffer(complete)), .controllerToHost),
        .hci(HCIPacket(.acl, PacketBuffer(sentData)), .hostToController),
        .hci(HCIPacket(.acl, PacketBuffer(receivedData)), .controllerToHost),
    ]
    /// One day in 2000, in microseconds since 1970.
    private static let time: UInt64 = 946_684_800_000_000

    private static func big(_ value: UInt64, _ octets: Int) -> [UInt8] {
        (0..<octets).reversed().map { UInt8(truncatingIfNeeded: value >> (8 * UInt64($0))) }
    }

    private static func number(_ value: UInt64, _ octets: Int, isBig: Bool) -> [UInt8] {
        isBig ? big(value, octets) : big(value, octets).reversed()
    }

    // MARK: Files

    private static func snoop(_ datalink: UInt64, _ records: [(flags: UInt64, octets: [UInt8])]) -> [UInt8] {
        records.enumerated().reduce(into: Array("btsnoop".utf8) + [0] + big(1, 4) + big(datalink, 4)) { file, record in
            let length = big(UInt64(record.element.octets.count), 4)
            let stamp = big(0x00DC_DDB3_0F2F_8000 + time + UInt64(record.offset), 8)
            file += length + length + big(record.element.flags, 4) + big(0, 4) + stamp + record.element.octets
        }
    }

    static let h1 = snoop(1_001, [(2, reset), (3, complete), (0, sentData), (1, receivedData)])
    static let h4 = snoop(1_002, [(2, [1] + reset), (3, [4] + complete), (0, [2] + sentData), (1, [2] + receivedData)])
    static let monitor = snoop(
        2_001,
        [(0x1_0002, reset), (0x1_0003, complete), (0x1_0004, sentData), (0x1_0005, receivedData)]
    )

    private static let typed: [(isReceived: Bool, octets: [UInt8])] = [
        (false, [1] + reset), (true, [4] + complete), (false, [2] + sentData), (true, [2] + receivedData),
    ]

    private static func pcap(_ magic: UInt64, isBig: Bool, linkType: UInt64, ticks: UInt64) -> [UInt8] {
        func number(_ value: UInt64, _ octets: Int = 4) -> [UInt8] { Self.number(value, octets, isBig: isBig) }
        let head = number(magic) + number(2, 2) + number(4, 2) + number(0, 8) + number(65_535) + number(linkType)
        return typed.enumerated().reduce(into: head) { file, record in
            let direction = linkType == 201 ? big(record.element.isReceived ? 1 : 0, 4) : []
            let octets = direction + record.element.octets
            let length = number(UInt64(octets.count))
            file += number(time / 1_000_000) + number(UInt64(record.offset) * ticks) + length + length + octets
        }
    }

    static let pcapLittle = pcap(0xA1B2_C3D4, isBig: false, linkType: 201, ticks: 1)
    static let pcapBig = pcap(0xA1B2_3C4D, isBig: true, linkType: 187, ticks: 1_000)

    private static func pcapng(isBig: Bool, hasFlags: Bool) -> [UInt8] {
        func number(_ value: UInt64, _ octets: Int = 4) -> [UInt8] { Self.number(value, octets, isBig: isBig) }
        func block(_ type: UInt64, _ body: [UInt8]) -> [UInt8] {
            let length = number(UInt64(body.count + 12))
            return number(type) + length + body + length
        }
        var file = block(0x0A0D_0D0A, number(0x1A2B_3C4D) + number(1, 2) + number(0, 2) + number(.max, 8))
        // An interface whose times are in nanoseconds, then a name that the file explains, of no interest here.
        let linkType: UInt64 = hasFlags ? 187 : 201
        file += block(1, number(linkType, 2) + number(0, 2) + number(0) + number(9, 2) + number(1, 2) + [9, 0, 0, 0])
        file += block(4, [UInt8](repeating: 7, count: 400))
        for (index, record) in typed.enumerated() {
            let octets = (hasFlags ? [] : big(record.isReceived ? 1 : 0, 4)) + record.octets
            let ticks = (time + UInt64(index)) * 1_000
            let length = number(UInt64(octets.count))
            let padding = [UInt8](repeating: 0, count: (4 - octets.count % 4) % 4)
            let flags = number(2, 2) + number(4, 2) + number(record.isReceived ? 1 : 2) + number(0)
            let body =
                number(0) + number(ticks >> 32) + number(ticks & 0xFFFF_FFFF) + length + length + octets + padding
            file += block(6, body + (hasFlags ? flags : []))
        }
        return file
    }

    static let pcapngLittle = pcapng(isBig: false, hasFlags: false)
    static let pcapngBig = pcapng(isBig: true, hasFlags: true)

    private static func packetLogger(isBig: Bool) -> [UInt8] {
        func number(_ value: UInt64) -> [UInt8] { Self.number(value, 4, isBig: isBig) }
        let records: [(kind: UInt8, octets: [UInt8])] = [(0, reset), (1, complete), (2, sentData), (3, receivedData)]
        return records.enumerated().reduce(into: []) { file, record in
            file += number(UInt64(record.element.octets.count + 9)) + number(time / 1_000_000)
            file += number(UInt64(record.offset)) + [record.element.kind] + record.element.octets
        }
    }

    static let packetLoggerBig = packetLogger(isBig: true)
    static let packetLoggerLittle = packetLogger(isBig: false)

    static let files = [
        h1, h4, monitor, pcapLittle, pcapBig, pcapngLittle, pcapngBig, packetLoggerBig, packetLoggerLittle,
    ]

    // MARK: Tests

    @Test(
        "the same packets, directions and times are read from btsnoop, pcap, pcapng and PacketLogger",
        arguments: files
    )
    func allFormats(_ file: [UInt8]) throws {
        let records = try CaptureReader.records(of: file)
        #expect(records.map(\.content) == Self.contents)
        #expect(records.map(\.unixMicroseconds) == (0..<4).map { Int64(Self.time) + $0 })
        #expect(records.map(\.offset) == records.map(\.offset).sorted())
    }

    @Test("a capture that arrives in two pieces, cut at any octet, is read as one piece is", arguments: files)
    func anySplit(_ file: [UInt8]) throws {
        let whole = try CaptureReader.records(of: file)
        for cut in 0...file.count {
            var (reader, records) = (CaptureReader(), [CaptureRecord]())
            for piece in [file[..<cut], file[cut...]] {
                reader.receive(piece)
                while let record = try reader.next() { records.append(record) }
            }
            try reader.finish()
            #expect(records == whole)
        }
    }

    @Test("a capture that ends within a record is read up to it, and the error tells where it starts", arguments: files)
    func anyEnd(_ file: [UInt8]) throws {
        let starts = try CaptureReader.records(of: file).map { Int($0.offset) } + [file.count]
        // The first four octets determine the format.
        for end in max(starts[0], 4)..<file.count where !starts.contains(end) {
            var (reader, records) = (CaptureReader(), [CaptureRecord]())
            reader.receive(file[..<end])
            while let record = try reader.next() { records.append(record) }
            #expect(records.count == starts.filter { $0 <= end }.count - 1)
            let error = #expect(throws: CaptureReadingError.self) { try reader.finish() }
            #expect(error == CaptureReadingError(.truncated, at: UInt64(starts.last { $0 <= end } ?? 0)))
        }
    }

    @Test(
        "a record is the same in place and with octets of its own",
        arguments: [h1, h4, monitor, pcapngLittle, pcapLittle, packetLoggerBig]
    )
    func recordsInPlace(_ file: [UInt8]) throws {
        let own = try CaptureReader.records(of: file)
        // An octet in front of a packet's first one shows that they share their storage.
        #expect(own.compactMap(\.packet).allSatisfy { $0.bytes.headroom == 0 })
        for length in [1, 7, file.count] {
            var (reader, records) = (CaptureReader(), [CaptureRecord]())
            for start in stride(from: 0, to: file.count, by: length) {
                reader.receive(file[start..<min(start + length, file.count)])
                while let record = try reader.nextInPlace() { records.append(record) }
            }
            try reader.finish()
            #expect(records == own)
            #expect(records.compactMap(\.packet).allSatisfy { $0.bytes.headroom > 0 })
        }
    }

    @Test("blocks of pcapng without packets are skipped as they arrive, whatever their length")
    func longBlocksAreSkipped() throws {
        var reader = CaptureReader()
        reader.receive(Self.pcapngLittle)
        while try reader.next() != nil {}
        let length: UInt64 = 40_000_000
        reader.receive(Self.number(0x0000_0BAD, 4, isBig: false) + Self.number(length, 4, isBig: false))
        for _ in 0..<(length / 1_000) {
            reader.receive([UInt8](repeating: 1, count: 1_000))
            #expect(try reader.next() == nil)
            #expect(reader.buffered <= 1_000)
        }
    }

    @Test("the octets of frames on the air are handed on with their link type")
    func framesOfTheAir() throws {
        var file = Self.pcapLittle.prefix(24) + []
        file[20...21] = [0, 1]
        file += Self.number(1, 4, isBig: false) + Self.number(0, 4, isBig: false)
        file += Self.number(2, 4, isBig: false) + Self.number(5, 4, isBig: false) + [1, 2]
        let record = try #require(try CaptureReader.records(of: file).first)
        #expect(record.content == .frame(linkType: 256, [1, 2]))
        #expect(record.omitted == 3)
    }

    @Test("a monitor's records that are no packets keep their opcode, and all have their adapter")
    func notesOfTheMonitor() throws {
        let file = Self.snoop(2_001, [(0x3_000C, [0x68, 0x69, 0])])
        let record = try #require(try CaptureReader.records(of: file).first)
        #expect(record.content == .monitor(opcode: 12, [0x68, 0x69, 0]))
        #expect(record.adapter == 3)
    }

    @Test("texts of PacketLogger keep their type, and its audio packets are packets")
    func textsOfPacketLogger() throws {
        let time = Self.big(Self.time / 1_000_000, 4) + Self.big(5, 4)
        let text: [UInt8] = Self.big(11, 4) + time + [0xFC, 0x68, 0x69]
        let audio: [UInt8] = Self.big(13, 4) + time + [0x09, 0x40, 0x00, 0x01, 0xAA]
        let records = try CaptureReader.records(of: text + audio)
        let packet = HCIPacket(.synchronous, [0x40, 0x00, 0x01, 0xAA])
        #expect(records.map(\.content) == [.log(kind: 0xFC, [0x68, 0x69]), .hci(packet, .controllerToHost)])
    }

    @Test(
        "an error of a capture file has its kind and its position",
        arguments: [
            ([UInt8](repeating: 0x20, count: 64), CaptureReadingError(.notACapture, at: 0)),
            (big(20, 4) + big(0, 8) + [0x77] + big(0, 8), CaptureReadingError(.notACapture, at: 0)),
            (packetLoggerBig + big(8, 4) + big(0, 9), CaptureReadingError(.length(8), at: 71)),
            (packetLoggerLittle + big(9, 4) + big(0, 9), CaptureReadingError(.length(0x900_0000), at: 71)),
            (snoop(1_003, []), CaptureReadingError(.linkType(1_003), at: 12)),
            (snoop(1_002, [(0, [9, 0])]), CaptureReadingError(.packetType(9), at: 16)),
            (snoop(1_002, [(0, [])]), CaptureReadingError(.length(0), at: 16)),
            (
                Array(pcapLittle.prefix(4)) + [3, 0] + [UInt8](repeating: 0, count: 18),
                CaptureReadingError(.version(3), at: 4)
            ),
            (
                Array(pcapngLittle.prefix(28)) + number(1, 4, isBig: false) + number(13, 4, isBig: false)
                    + number(0, 4, isBig: false),
                CaptureReadingError(.length(13), at: 28)
            ),
            (
                Array(pcapngLittle.prefix(28)) + number(3, 4, isBig: false) + number(16, 4, isBig: false)
                    + number(0, 4, isBig: false) + number(16, 4, isBig: false),
                CaptureReadingError(.interface(0), at: 28)
            ),
        ]
    )
    func errors(_ file: [UInt8], _ error: CaptureReadingError) {
        #expect(throws: error) { try CaptureReader.records(of: file) }
    }

    @Test("an empty file is no capture")
    func anEmptyFile() {
        #expect(throws: CaptureReadingError(.notACapture, at: 0)) { try CaptureReader.records(of: []) }
    }
}
