import BluetoothTypes
import Cryptography
import Testing

@testable import CaptureStory
@testable import HCI

@Suite struct RedactionTests {
    private static let seed: [UInt8] = Array(1...32)
    private static let key = [UInt8](repeating: 0xA7, count: 15) + [0x11]
    private static let irk = [UInt8](repeating: 0x5B, count: 15) + [0x22]
    private static let name = "Anna's watch"
    private static let value = Array("a private message".utf8)

    private func redacted(_ records: [CaptureRecord]) -> [CaptureRecord] {
        var keys = RedactionKeys()
        for record in records { keys.learn(record) }
        var redactor = CaptureRedactor(seed: Self.seed, keys: keys)
        return records.flatMap { redactor.receive($0) } + redactor.finish()
    }

    /// A capture with a secret of each kind, in PDUs of fragments.
    private func capture(fragment: Int = 27) -> CaptureBench {
        var bench = CaptureBench()
        bench.advertise(CaptureBench.peer, name: Self.name)
        bench.connect()
        bench.pdu(6, [1, 4, 0, 0x0D, 16, 3, 3], isSent: true)
        bench.pdu(6, [2, 1, 0, 0x0D, 16, 3, 3], isSent: false)
        bench.pdu(6, [0x0C] + (0..<64).map { UInt8($0 + 100) }, isSent: true, fragment: fragment)
        bench.pdu(6, [0x03] + Self.key, isSent: true)
        bench.command(
            LEAddDeviceToResolvingList(
                peerIdentity: CaptureBench.peer,
                peerIRK: PacketBuffer(Self.irk),
                localIRK: PacketBuffer(Self.key)
            )
        )
        let enable: [UInt8] = [0x19, 0x20, 28, 0x40, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10] + Self.key
        bench.add(HCIPacket(.command, PacketBuffer(enable)), .hostToController)
        bench.event(EncryptionChange(handle: CaptureBench.handle, state: EncryptionState(rawValue: 1)))
        bench.pdu(6, [0x08] + Self.irk, isSent: false)
        bench.pdu(6, [0x09, 1] + CaptureBench.peer.littleEndianBytes, isSent: false)
        bench.request([0x10, 1, 0, 0xFF, 0xFF, 0x00, 0x28], [0x11, 6, 1, 0, 5, 0, 0x0D, 0x18])
        bench.request([0x08, 1, 0, 5, 0, 0x03, 0x28], [0x09, 7, 2, 0, 0x12, 3, 0, 0x37, 0x2A])
        bench.request([0x04, 4, 0, 5, 0], [0x05, 1, 4, 0, 0x02, 0x29])
        bench.request([0x12, 4, 0, 1, 0], [0x13])
        bench.request(
            [0x08, 1, 0, 5, 0, 0x00, 0x2A],
            [0x09, UInt8(2 + Self.name.utf8.count), 9, 0] + Array(Self.name.utf8)
        )
        bench.pdu(4, [0x1B, 3, 0] + Self.value, isSent: false, fragment: fragment)
        bench.pdu(4, [0x12, 3, 0] + Self.value, isSent: true, fragment: fragment)
        bench.pdu(0x40, [17, 0] + Self.value, isSent: true)
        bench.add(HCIPacket(.command, PacketBuffer([0x13, 0x0C, 17] + Self.value)), .hostToController)
        bench.add(HCIPacket(.event, PacketBuffer([0xFF, 17] + Self.value)), .controllerToHost)
        bench.disconnect()
        return bench
    }

    private func octets(_ records: [CaptureRecord]) -> [UInt8] {
        records.flatMap { $0.packet.map { Array($0.bytes) } ?? [] }
    }

    /// The payloads of all data, since a secret may be spread over fragments.
    private func data(_ records: [CaptureRecord]) -> [UInt8] {
        records.flatMap { record -> [UInt8] in
            guard let packet = record.packet, packet.kind == .acl else { return [] }
            return Array(packet.bytes.suffix(after: 4))
        }
    }

    private func contains(_ octets: [UInt8], _ secret: [UInt8]) -> Bool {
        octets.indices.contains { octets[$0...].starts(with: secret) }
    }

    @Test("no secret of the source survives, in whatever fragments it arrives", arguments: [5, 9, 27, 251])
    func noSecretSurvives(fragment: Int) {
        let source = capture(fragment: fragment).records
        let result = redacted(source)
        #expect(result.count == source.count)
        let address = CaptureBench.peer.littleEndianBytes
        let point = (0..<64).map { UInt8($0 + 100) }
        let secrets: [[UInt8]] = [
            Self.key, Self.irk, Array(Self.name.utf8), Self.value, address,
            Array(point.prefix(8)), Array(point.suffix(8)), Array(Self.value.prefix(6)), Array(Self.value.suffix(6)),
            Array(Self.key.prefix(4)), Array(Self.name.utf8.prefix(5)), [1, 2, 3, 4, 5, 6, 7, 8, 9, 10],
        ]
        for secret in secrets {
            #expect(contains(octets(source) + data(source), secret), "the test has no \(secret)")
            #expect(!contains(octets(result), secret))
            #expect(!contains(data(result), secret))
        }
    }

    @Test("the redacted capture has the same lengths, times and directions, and tells the same story")
    func theSameStory() {
        let source = capture()
        let result = redacted(source.records)
        #expect(result.map(\.unixMicroseconds) == source.records.map(\.unixMicroseconds))
        #expect(result.map { $0.packet?.bytes.count } == source.records.map { $0.packet?.bytes.count })
        #expect(result.map(\.direction) == source.records.map(\.direction))
        func story(_ records: [CaptureRecord]) -> ([StoryEntry.Kind], [Int64?], [String?], StoryTotals) {
            var story = CaptureStory()
            let entries = records.flatMap { story.receive($0) } + story.finish()
            return (entries.map(\.kind), entries.map(\.latency), story.links.map(\.pairing), story.totals)
        }
        let (before, after) = (story(source.records), story(result))
        #expect(before.0 == after.0)
        #expect(before.1 == after.1)
        #expect(before.2 == after.2)
        #expect(before.3 == after.3)
        #expect(before.0.contains(.pairing))
    }

    @Test("a private address that a key resolves has a replacement that the key's replacement resolves")
    func privateAddresses() throws {
        let key = try #require(Key128(littleEndian: Self.irk))
        let address = UInt64(0x41_2233) << 24 | UInt64(Toolbox.ah(key, 0x41_2233))
        var pseudonyms = Pseudonyms(seed: Self.seed, keys: [PacketBuffer(Self.irk)])
        let replaced = pseudonyms.address(address)
        let other = try #require(Key128(littleEndian: pseudonyms.octets(Self.irk)))
        #expect(replaced != address)
        #expect(Toolbox.ah(other, UInt32(replaced >> 24)) == UInt32(replaced & 0xFF_FFFF))
        #expect(BluetoothAddress(replaced, kind: .randomDevice).randomKind == .resolvable)
        #expect(pseudonyms.address(address) == replaced)
    }

    @Test("another seed gives other replacements, and the same one the same")
    func seeds() {
        var (a, b) = (Pseudonyms(seed: [1], keys: []), Pseudonyms(seed: [2], keys: []))
        let address = CaptureBench.peer.value
        #expect(a.address(address) != b.address(address))
        #expect(a.value(Self.value) != b.value(Self.value))
        #expect(a.value(Self.value).allSatisfy { (UInt8(ascii: "a")...UInt8(ascii: "z")).contains($0) })
        #expect(b.address(address) >> 46 == address >> 46)
    }

    @Test("a value that is no text begins with zeros, since many known ones begin with flags about their length")
    func flagsOfValues() {
        let pseudonyms = Pseudonyms(seed: Self.seed, keys: [])
        for count in 1...24 {
            let (value, other) = ([UInt8](repeating: 0x81, count: count), [UInt8](repeating: 0x82, count: count))
            let replaced = pseudonyms.value(value)
            #expect(replaced.count == count)
            #expect(replaced.prefix(min(3, count - 1)).allSatisfy { $0 == 0 })
            #expect(replaced != value)
            #expect(replaced != pseudonyms.value(other))
        }
    }

    @Test("a PDU that never becomes complete keeps nothing but its header, and holds up no more than the bound")
    func anIncompletePDU() {
        var bench = CaptureBench()
        bench.pdu(4, [0x1B, 3, 0] + Self.value + Self.value, isSent: false, fragment: 20)
        var records = bench.records
        records.removeLast()
        for _ in 0..<5_000 { records.append(records[0]) }
        for index in records.indices.dropFirst(bench.records.count - 1) {
            let event = HCIPacket(CommandComplete(credits: 1, opcode: .none, parameters: []))
            records[index].content = .hci(event, .controllerToHost)
        }
        let result = redacted(records)
        #expect(result.count == records.count)
        #expect(!contains(octets(result), Array(Self.value.prefix(4))))
    }

    @Test("a redacted packet is written to btsnoop and read again")
    func theFile() throws {
        let result = redacted(capture().records)
        var file = RedactedFile(like: result[0])
        let again = try CaptureReader.records(of: file.header + result.flatMap { file.record($0) ?? [] })
        #expect(again.map(\.content) == result.map(\.content))
        #expect(again.map(\.unixMicroseconds) == result.map(\.unixMicroseconds))
        var note = result[0]
        note.content = .monitor(opcode: 0, [])
        var monitor = RedactedFile(like: note)
        let adapters = result.map { record in
            var record = record
            record.adapter = 3
            return record
        }
        let monitored = try CaptureReader.records(of: monitor.header + adapters.flatMap { monitor.record($0) ?? [] })
        #expect(monitored.map(\.content) == result.map(\.content))
        #expect(monitored.allSatisfy { $0.adapter == 3 })
    }

    @Test("any cut packet is redacted without a trap, and has the length of its source")
    func hostileRecords() {
        var keys = RedactionKeys()
        var redactor = CaptureRedactor(seed: Self.seed, keys: RedactionKeys())
        var count = 0
        for record in capture().records {
            guard case .hci(let packet, let direction) = record.content else { continue }
            for length in 0..<packet.bytes.count {
                var cut = record
                cut.content = .hci(HCIPacket(packet.kind, packet.bytes.prefix(upTo: length)), direction)
                keys.learn(cut)
                count += redactor.receive(cut).count - 1
            }
        }
        count += redactor.finish().count
        #expect(count == 0)
    }

    @Test("parts of long advertising data are redacted across their borders")
    func partsOfAdvertisingData() {
        var redactor = AdvertisingRedactor()
        var pseudonyms = Pseudonyms(seed: Self.seed, keys: [])
        let data = PacketBuffer([2, 1, 6, UInt8(1 + Self.value.count), 0xFF] + Self.value + [3, 3, 0x0D, 0x18])
        for cut in 0...data.count {
            let key = AdvertisingRedactor.Key.report(1, 0)
            let first = redactor.redacted(data.prefix(upTo: cut), key, isLast: false, &pseudonyms)
            let whole = first + redactor.redacted(data.suffix(after: cut), key, isLast: true, &pseudonyms)
            #expect(whole.count == data.count)
            #expect(!contains(whole, Array(Self.value.dropFirst(2).prefix(6))))
            #expect(!contains(whole, Array(Self.value.suffix(6))))
        }
    }
}
