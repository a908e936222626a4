import BluetoothTypes
import LinkLayer
import Testing

@testable import CaptureStory
@testable import HCI

/// Captures of the air without what is private, with each of the link types of sniffers.
@Suite struct AirRedactionTests {
    private static let seed: [UInt8] = Array(1...32)
    private static let primary: UInt32 = 0x8E89_BED6
    private static let link: UInt32 = 0x1234_5678
    private static let train: UInt32 = 0x5A5A_1234
    private static let central: [UInt8] = [0xA1, 0xA2, 0xA3, 0xA4, 0xA5, 0xC6]
    private static let peripheral: [UInt8] = [0xB1, 0xB2, 0xB3, 0xB4, 0xB5, 0xC6]
    private static let other: [UInt8] = [0xD1, 0xD2, 0xD3, 0xD4, 0xD5, 0xC6]
    private static let name = Array("Anna's watch".utf8)
    private static let value = Array("a private message that is longer".utf8)
    private static let cipher: [UInt8] = [0xE1, 0xE2, 0xE3, 0xE4, 0xE5, 0xE6, 0xE7, 0xE8]
    private static let key = [UInt8](repeating: 0xA7, count: 15) + [0x11]
    private static let initials: [UInt32: UInt32] = [primary: 0x55_5555, link: 0x03_0201, train: 0x06_0504]

    private static func octets(_ number: UInt32) -> [UInt8] {
        (0..<4).map { UInt8(truncatingIfNeeded: number >> (8 * $0)) }
    }

    /// A capture that is written frame by frame.
    private struct Air {
        var records: [CaptureRecord] = []
        let linkType: UInt32
        private var time: Int64 = 1_000_000
        private var sequence = (near: UInt8(1), far: UInt8(1))

        init(_ linkType: UInt32 = 256) { self.linkType = linkType }

        mutating func frame(
            _ address: UInt32,
            _ pdu: [UInt8],
            side: StorySide? = nil,
            isGood: Bool = true,
            after microseconds: Int64 = 300
        ) {
            time += microseconds
            let initial = AirRedactionTests.initials[address] ?? 0x77_7777
            let check = CyclicRedundancyCheck.octets(of: pdu, initial: initial).map { isGood ? $0 : ~$0 }
            let content = header(side, isGood) + AirRedactionTests.octets(address) + pdu + check
            records.append(
                CaptureRecord(
                    offset: UInt64(records.count),
                    unixMicroseconds: time,
                    content: .frame(linkType: linkType, PacketBuffer(content))
                )
            )
        }

        private func header(_ side: StorySide?, _ isGood: Bool) -> [UInt8] {
            switch linkType {
            case 256:
                let kind: UInt16 = side == .near ? 2 : side == .far ? 3 : 0
                let flags: UInt16 = 0x0413 | (isGood ? 0x0800 : 0) | kind << 7
                return [1, 0xC4, 0, 0, 0, 0, 0, 0, UInt8(flags & 0xFF), UInt8(flags >> 8)]
            case 272:
                let flags: UInt8 = (isGood ? 1 : 0) | (side == .near ? 2 : 0)
                return [1, 6, 0, 1, 0, 0, 6, 10, flags, 37, 60, 0, 0, 0, 0, 0, 0]
            // A place, and the circumstances of Ubertooth.
            case 192:
                let place = [0x32, 0x75, 4, 0] + AirRedactionTests.place
                return [0, 0, 24, 0, 251, 0, 0, 0] + place + [0x36, 0x75, 4, 0, 1, 2, 3, 4]
            default: return []
            }
        }

        mutating func data(
            _ side: StorySide,
            _ id: UInt8,
            _ payload: [UInt8],
            isRepeated: Bool = false,
            isGood: Bool = true
        ) {
            if side == .near, !isRepeated { sequence.near ^= 1 }
            if side == .far, !isRepeated { sequence.far ^= 1 }
            let bit = (side == .near ? sequence.near : sequence.far) << 3
            // The central begins each event, and the peripheral follows it.
            let pause: Int64 = side == .near ? 30_000 : 300
            frame(
                AirRedactionTests.link,
                [id | bit, UInt8(payload.count)] + payload,
                side: side,
                isGood: isGood,
                after: pause
            )
        }

        /// An L2CAP PDU in fragments, each of which the other end acknowledges.
        mutating func pdu(_ side: StorySide, _ channel: UInt8, _ content: [UInt8], fragment: Int = 27) {
            let octets = [UInt8(content.count), 0, channel, 0] + content
            for start in stride(from: 0, to: octets.count, by: fragment) {
                if side == .far { data(.near, 1, []) }
                data(side, start == 0 ? 2 : 1, Array(octets[start..<min(start + fragment, octets.count)]))
                if side == .near { data(.far, 1, []) }
            }
        }
    }

    private static let place: [UInt8] = [0xF1, 0xF2, 0xF3, 0xF4]

    private static func data(_ type: UInt8, _ content: [UInt8]) -> [UInt8] {
        [UInt8(content.count + 1), type] + content
    }

    /// A capture with a secret of each kind.
    private static func capture(_ linkType: UInt32 = 256, fragment: Int = 27) -> Air {
        var air = Air(linkType)
        let named = peripheral + [2, 1, 6] + data(0x09, name)
        air.frame(primary, [0x40, UInt8(named.count)] + named)
        air.frame(primary, [0xC3, 12] + central + peripheral)
        air.frame(primary, [0xC1, 12] + peripheral + central)
        let response = peripheral + data(0xFF, [0x4C, 0] + cipher)
        air.frame(primary, [0x44, UInt8(response.count)] + response)
        // An extended advertisement with its set, and more of its data in the next PDU.
        let long = data(0x09, name)
        let first = [0x40 | 12, 0b0001_1001] + other + [0x34, 0x12, 0, 0, 0] + long.prefix(6)
        air.frame(primary, [0x47, UInt8(first.count)] + first)
        let next = [3, 0b0000_1000, 0x34, 0x12] + long.dropFirst(6)
        air.frame(primary, [0x07, UInt8(next.count)] + next)
        // A train of periodic advertising.
        let info: [UInt8] = [0, 0, 6, 0, 0xFF, 0xFF, 0xFF, 0xFF, 0x1F] + octets(train) + [4, 5, 6, 0, 0]
        let sync = [25, 0b0010_0001] + other + info
        air.frame(primary, [0x47, UInt8(sync.count)] + sync)
        let periodic = [0] + data(0xFF, [0x4C, 0] + cipher)
        air.frame(train, [0x07, UInt8(periodic.count)] + periodic)
        let parameters: [UInt8] = [1, 2, 3, 2, 0, 0, 24, 0, 0, 0, 72, 0, 0xFF, 0xFF, 0xFF, 0xFF, 0x1F, 5]
        air.frame(primary, [0xC5, 34] + central + peripheral + octets(link) + parameters)
        air.pdu(.near, 4, [2, 0xF7, 0], fragment: fragment)
        air.pdu(.far, 4, [3, 0x40, 0], fragment: fragment)
        air.pdu(.near, 4, [0x12, 3, 0] + value, fragment: fragment)
        air.pdu(.far, 4, [0x13], fragment: fragment)
        air.pdu(.near, 6, [0x03] + key, fragment: fragment)
        air.data(.near, 3, [0x0C, 9, 0x0F, 0, 1, 0])
        air.data(.far, 3, [0x0C, 9, 0x0F, 0, 2, 0])
        air.data(.near, 3, [0x03] + cipher + [1, 2] + cipher + [3, 4, 5, 6])
        air.data(.far, 3, [0x04] + cipher + [3, 4, 5, 6])
        air.data(.near, 1, [])
        air.data(.far, 3, [0x05])
        air.data(.near, 1, [])
        air.data(.far, 3, [0x05], isRepeated: true)
        air.data(.near, 3, [0x06] + cipher)
        air.data(.far, 2, [4, 0] + cipher)
        return air
    }

    private static func redacted(_ records: [CaptureRecord]) -> [CaptureRecord] {
        var redactor = CaptureRedactor(seed: seed, keys: RedactionKeys())
        return records.flatMap { redactor.receive($0) } + redactor.finish()
    }

    private static func frames(_ records: [CaptureRecord]) -> [AirFrame] {
        records.compactMap { record in
            guard case .frame(let type, let octets) = record.content else { return nil }
            return AirFrame(octets, linkType: type)
        }
    }

    private static func octets(_ records: [CaptureRecord]) -> [PacketBuffer] {
        records.compactMap { if case .frame(_, let octets) = $0.content { octets } else { nil } }
    }

    /// All payloads in a row by access address and kind, since a secret may be spread over fragments.
    private static func all(_ records: [CaptureRecord]) -> [UInt8] {
        let frames = frames(records)
        let parts = frames.filter { $0.accessAddress == link && $0.pdu[0] & 3 != 3 }.flatMap(\.payload)
        return octets(records).flatMap { Array($0) } + parts
    }

    private static func contains(_ octets: [UInt8], _ secret: some Sequence<UInt8>) -> Bool {
        octets.indices.contains { octets[$0...].starts(with: secret) }
    }

    @Test("no secret of the source survives, with each link type", arguments: [251, 256, 272, 192] as [UInt32])
    func noSecretSurvives(linkType: UInt32) {
        for fragment in [9, 27] {
            let source = Self.capture(linkType, fragment: fragment).records
            let result = Self.redacted(source)
            #expect(result.count == source.count)
            var secrets: [[UInt8]] = [
                Self.central, Self.peripheral, Self.other, Self.name, Self.value, Self.cipher, Self.key,
            ]
            secrets += [Array(Self.value.suffix(7)), Array(Self.name.suffix(5)), Array(Self.key.prefix(6))]
            if linkType == 192 { secrets.append(Self.place) }
            for secret in secrets {
                #expect(Self.contains(Self.all(source), secret), "the test has no \(secret)")
                #expect(!Self.contains(Self.all(result), secret), "\(secret)")
            }
        }
    }

    @Test(
        "the redacted frames have the same times, headers and lengths, right check sequences, and tell the same story"
    )
    func theSameStory() {
        for linkType in [251, 256, 272, 192] as [UInt32] {
            let source = Self.capture(linkType).records
            let result = Self.redacted(source)
            #expect(result.map(\.unixMicroseconds) == source.map(\.unixMicroseconds))
            let (before, after) = (Self.frames(source), Self.frames(result))
            #expect(after.map(\.accessAddress) == before.map(\.accessAddress))
            #expect(after.map { $0.pdu.prefix(upTo: 2) } == before.map { $0.pdu.prefix(upTo: 2) })
            for (octets, frame) in zip(Self.octets(result), after) {
                let initial = Self.initials[frame.accessAddress] ?? 0
                #expect(Array(octets.suffix(3)) == CyclicRedundancyCheck.octets(of: Array(frame.pdu), initial: initial))
            }
            func story(_ records: [CaptureRecord]) -> (
                kinds: [StoryEntry.Kind], totals: StoryTotals, links: [LinkSummary]
            ) {
                var story = CaptureStory()
                let entries = records.flatMap { story.receive($0) } + story.finish()
                return (entries.map(\.kind), story.totals, story.links)
            }
            let (old, new) = (story(source), story(result))
            #expect(new.kinds == old.kinds)
            #expect(new.totals == old.totals)
            #expect(new.links.map(\.operations) == old.links.map(\.operations))
            #expect(new.links.map(\.repeats) == old.links.map(\.repeats))
            #expect(new.links.map(\.unreadable) == old.links.map(\.unreadable))
            #expect(old.kinds.contains(.encryption))
        }
    }

    @Test("the same address has the same replacement in advertisements, requests and CONNECT_IND, and keeps its kind")
    func addresses() throws {
        let frames = Self.frames(Self.redacted(Self.capture().records))
        let advertiser = Array(frames[0].payload.prefix(upTo: 6))
        let initiator = Array(frames[1].payload.prefix(upTo: 6))
        #expect(advertiser != initiator)
        #expect(Array(frames[1].payload.slice(6..<12)) == advertiser)
        #expect(Array(frames[2].payload.prefix(upTo: 12)) == advertiser + initiator)
        #expect(Array(frames[3].payload.prefix(upTo: 6)) == advertiser)
        let connection = try #require(frames.first { $0.pdu[0] & 0x0F == 5 })
        #expect(Array(connection.payload.prefix(upTo: 12)) == initiator + advertiser)
        #expect(advertiser[5] & 0xC0 == 0xC0)
        // What no one has to hide: flags, company, and the parameters of the link.
        #expect(Array(frames[0].payload.slice(6..<11)) == [2, 1, 6, 13, 9])
        #expect(Array(frames[3].payload.slice(6..<10)) == [11, 0xFF, 0x4C, 0])
        #expect(Array(connection.payload.slice(12..<16)) == Self.octets(Self.link))
    }

    @Test("a name in two parts of an extended advertisement is replaced across their border")
    func parts() {
        let frames = Self.frames(Self.redacted(Self.capture().records))
        let whole = Array(frames[4].payload.suffix(after: 13)) + Array(frames[5].payload.suffix(after: 4))
        #expect(whole.count == 2 + Self.name.count)
        #expect(Array(whole.prefix(2)) == [13, 9])
    }

    @Test("a packet that is sent again has the replacement of the first time, also within a PDU of fragments")
    func repeats() {
        var air = Air()
        let value = Self.value + Self.value
        let octets = [UInt8(value.count + 3), 0, 4, 0, 0x52, 3, 0] + value
        // A complete PDU, which tells that the link is not encrypted.
        air.data(.near, 2, [3, 0, 4, 0, 0x0A, 3, 0])
        air.data(.near, 2, Array(octets[..<20]))
        air.data(.near, 2, Array(octets[..<20]), isRepeated: true)
        air.data(.far, 1, [])
        air.data(.near, 1, Array(octets[20..<45]))
        air.data(.near, 1, Array(octets[20..<45]), isRepeated: true)
        air.data(.near, 1, Array(octets[45...]))
        air.data(.near, 1, Array(octets[45...]), isRepeated: true)
        air.data(.near, 1, Array(octets[45...]), isRepeated: true)
        let result = Self.frames(Self.redacted(air.records)).dropFirst().map { Array($0.payload) }
        #expect(result[0] == result[1])
        #expect(result[3] == result[4])
        #expect(result[5] == result[6])
        #expect(result[5] == result[7])
        let whole = result[0] + result[3] + result[5]
        #expect(Array(whole.prefix(7)) == Array(octets.prefix(7)))
        #expect(whole.dropFirst(7).allSatisfy { (UInt8(ascii: "a")...UInt8(ascii: "z")).contains($0) })
    }

    @Test(
        "what is encrypted becomes octets that readers take for no packet; the request to encrypt stays, sent again or not"
    )
    func encrypted() {
        let frames = Self.frames(Self.redacted(Self.capture().records)).filter { !$0.payload.isEmpty }
        let last = Array(frames.suffix(4))
        #expect(last[0].payload == [5])
        #expect(last[1].payload == [5])
        #expect(last[2].payload[0] == 0xFF)
        #expect(Array(last[3].payload.prefix(upTo: 2)) == [0xFF, 0xFF])
        #expect(frames.suffix(2).map(\.payload.count) == [9, 10])
    }

    @Test("without the beginning of a link, the check sequence is zero, and marked as not checked")
    func unknownLink() throws {
        var air = Air()
        air.pdu(.near, 4, [0x12, 3, 0] + Self.value)
        let result = Self.redacted(air.records)
        #expect(!Self.contains(Self.all(result), Self.value.prefix(6)))
        for octets in Self.octets(result) {
            #expect(octets[9] & 0x0C == 0)
            #expect(octets.suffix(3).allSatisfy { $0 == 0 })
        }
        // It may as well be periodic advertising, whose data is no control PDU.
        var train = Air(251)
        let data = [0] + Self.data(0xFF, Self.cipher)
        train.frame(Self.train, [0x07, UInt8(data.count)] + data)
        #expect(!Self.contains(Self.all(Self.redacted(train.records)), Self.cipher.prefix(3)))
    }

    @Test("a frame that was received corrupted has nothing of its payload, and stays corrupted")
    func corrupted() {
        var air = Air()
        let named = Self.peripheral + Self.data(0x09, Self.name)
        air.frame(Self.primary, [0x40, UInt8(named.count)] + named, isGood: false)
        air.records += Self.capture().records
        air.data(.near, 2, [UInt8(Self.value.count), 0, 4, 0] + Self.value, isGood: false)
        let result = Self.redacted(air.records)
        #expect(result.count == air.records.count)
        #expect(!Self.contains(Self.all(result), Self.value.prefix(6)))
        let frames = Self.frames(result)
        #expect(frames[0].payload.allSatisfy { $0 == 0 })
        #expect(frames.map(\.isCorrupted) == Self.frames(air.records).map(\.isCorrupted))
        for index in [0, frames.count - 1] {
            let frame = frames[index]
            let right = CyclicRedundancyCheck.octets(
                of: Array(frame.pdu),
                initial: Self.initials[frame.accessAddress] ?? 0
            )
            #expect(Array(Self.octets(result)[index].suffix(3)) != right)
        }
    }

    @Test(
        "LL_PERIODIC_SYNC_IND has the replacement of its advertiser, and unknown control PDUs nothing but their opcode"
    )
    func controlPDUs() {
        var pseudonyms = Pseudonyms(seed: Self.seed, keys: [])
        let sync = [0x1C] + [UInt8](repeating: 7, count: 26) + Self.peripheral + [1, 2]
        let replaced = ControlRedactor.redacted(PacketBuffer(sync), isDoubtful: false, &pseudonyms)
        #expect(Array(replaced[..<27]) == Array(sync[..<27]))
        #expect(Array(replaced[33...]) == [1, 2])
        let address = pseudonyms.address(0xC6B5_B4B3_B2B1)
        #expect(Array(replaced[27..<33]) == BluetoothAddress(address, kind: .randomDevice).littleEndianBytes)
        for opcode in [UInt8(0x2A), 0x40, 0xFE] {
            let pdu = PacketBuffer([opcode] + Self.cipher)
            let zeros = [opcode] + [UInt8](repeating: 0, count: Self.cipher.count)
            #expect(ControlRedactor.redacted(pdu, isDoubtful: false, &pseudonyms) == zeros)
        }
        for opcode in [UInt8(0x03), 0x04, 0x1C] {
            let cut = ControlRedactor.redacted(PacketBuffer([opcode] + Self.cipher), isDoubtful: false, &pseudonyms)
            #expect(cut == [opcode] + [UInt8](repeating: 0, count: Self.cipher.count))
        }
        let length: [UInt8] = [0x14, 251, 0, 0x48, 8, 251, 0, 0x48, 8]
        #expect(ControlRedactor.redacted(PacketBuffer(length), isDoubtful: false, &pseudonyms) == length)
        #expect(
            ControlRedactor.redacted(PacketBuffer(length), isDoubtful: true, &pseudonyms) == [0x14]
                + [UInt8](repeating: 0, count: 8)
        )
    }

    @Test(
        "a frame that is cut off is left out, and any octet may be wrong without a trap",
        arguments: [251, 256, 272, 192] as [UInt32]
    )
    func hostileFrames(linkType: UInt32) {
        var redactor = CaptureRedactor(seed: Self.seed, keys: RedactionKeys())
        var (sent, count) = (0, 0)
        for record in Self.capture(linkType).records {
            guard case .frame(let type, let octets) = record.content else { continue }
            for length in octets.indices {
                var changed = octets
                changed[length] = changed[length] &* 31 &+ 0xF7
                for content in [octets.prefix(upTo: length), changed] {
                    var record = record
                    record.content = .frame(linkType: type, content)
                    sent += 1
                    count += redactor.receive(record).count
                }
            }
        }
        count += redactor.finish().count
        #expect(redactor.leftOut > 0)
        #expect(count + redactor.leftOut == sent)
    }

    @Test("frames and HCI packets of several interfaces are written to pcapng and read again")
    func theFile() throws {
        var bench = CaptureBench()
        bench.advertise(CaptureBench.peer, name: "Sensor")
        bench.connect()
        bench.pdu(4, [0x1B, 3, 0, 1, 2, 3], isSent: false)
        var records = bench.records
        for (adapter, type) in zip(UInt32(1)..., [251, 256, 272, 192] as [UInt32]) {
            records += Self.capture(type).records.map { record in
                var record = record
                record.adapter = adapter
                return record
            }
        }
        let result = Self.redacted(records)
        var file = RedactedFile(like: records[0], hasFrames: true)
        let again = try CaptureReader.records(of: file.header + result.flatMap { file.record($0) ?? [] })
        #expect(again.map(\.content) == result.map(\.content))
        #expect(again.map(\.unixMicroseconds) == result.map(\.unixMicroseconds))
        #expect(again.map(\.adapter) == result.map(\.adapter))
    }
}
