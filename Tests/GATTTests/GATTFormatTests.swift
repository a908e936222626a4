import BluetoothTypes
import GATT
import Testing

/// A value with its format, as octets and as text.
struct FormatSample: Sendable, CustomTestStringConvertible {
    var format: UInt8
    var exponent: Int8 = 0
    var octets: [UInt8]
    var text: String

    var testDescription: String { "\(format): \(text)" }
    var presentation: PresentationFormat {
        PresentationFormat(.init(rawValue: format), exponent: exponent, unit: 0x2700)
    }

    static let ones16 = [UInt8](repeating: 0xFF, count: 16)

    /// Every format of fixed length in Core Vol 3 Part G 3.3.3.5.2.
    static let fixed: [FormatSample] = [
        FormatSample(format: 0x01, octets: [1], text: "1"), FormatSample(format: 0x02, octets: [3], text: "3"),
        FormatSample(format: 0x03, octets: [15], text: "15"), FormatSample(format: 0x04, octets: [255], text: "255"),
        FormatSample(format: 0x05, exponent: 2, octets: [0xFF, 0x0F], text: "409500"),
        FormatSample(format: 0x06, exponent: -2, octets: [0x39, 0x30], text: "123.45"),
        FormatSample(format: 0x07, octets: [0xFF, 0xFF, 0xFF], text: "16777215"),
        FormatSample(format: 0x08, octets: [0, 0, 0, 0x80], text: "2147483648"),
        FormatSample(format: 0x09, octets: [0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF], text: "281474976710655"),
        FormatSample(format: 0x0A, octets: Array(ones16.prefix(8)), text: "18446744073709551615"),
        FormatSample(format: 0x0B, octets: ones16, text: "340282366920938463463374607431768211455"),
        FormatSample(format: 0x0C, octets: [0x80], text: "-128"),
        FormatSample(format: 0x0D, octets: [0x00, 0x08], text: "-2048"),
        // The test suite's own example.
        FormatSample(format: 0x0E, exponent: -5, octets: [0x25, 0xF0], text: "-0.04059"),
        FormatSample(format: 0x0F, octets: [0xFF, 0xFF, 0xFF], text: "-1"),
        FormatSample(format: 0x10, octets: [0, 0, 0, 0x80], text: "-2147483648"),
        FormatSample(format: 0x11, octets: [0, 0, 0, 0, 0, 0x80], text: "-140737488355328"),
        FormatSample(format: 0x12, octets: Array(ones16.prefix(8)), text: "-1"),
        FormatSample(
            format: 0x13,
            octets: [UInt8](repeating: 0, count: 15) + [0x80],
            text: "-170141183460469231731687303715884105728"
        ),
        FormatSample(format: 0x14, octets: [0, 0, 0xC0, 0x3F], text: "1.5"),
        FormatSample(
            format: 0x15,
            octets: [0x44, 0xCD, 0x55, 0xBB, 0x4A, 0x2B, 0x62, 0x41],
            text: "9525845.854223855"
        ),
        FormatSample(format: 0x16, octets: [0x6C, 0xF0], text: "10.8"),
        FormatSample(format: 0x16, octets: [0xFF, 0x07], text: "not a number"),
        FormatSample(format: 0x16, octets: [0xFE, 0x07], text: "+infinity"),
        FormatSample(format: 0x16, octets: [0x02, 0x08], text: "-infinity"),
        FormatSample(format: 0x17, octets: [0x6E, 0x01, 0x00, 0xFF], text: "36.6"),
        FormatSample(format: 0x17, octets: [0x00, 0x00, 0x80, 0x00], text: "not at this resolution"),
        FormatSample(format: 0x18, octets: [1, 0, 2, 0], text: "1, 2"),
    ]
    static let variable: [FormatSample] = [
        FormatSample(format: 0x19, octets: Array("Ω is ohm".utf8), text: "Ω is ohm"),
        FormatSample(
            format: 0x1A,
            octets: [0x08, 0x1F, 0xC1, 0x03, 0xC7, 0x03, 0xB9, 0x03],
            text: "Ἀρχι"
        ),
        FormatSample(format: 0x1B, octets: [1, 2, 0xAB], text: "0102ab"),
        FormatSample(format: 0x7F, octets: [1, 2], text: "0102"),
    ]
}

@Suite struct GATTFormatTests {
    /// Connects a client to a server with one characteristic of the given formats.
    private func connect(_ formats: [PresentationFormat], value: [UInt8]) throws -> (ConnectedClient, DiscoveredService)
    {
        let fixture = try ServerFixture()
        let published = try fixture.database.add(
            0x1819,
            CharacteristicDefinition(
                0x2A6E,
                properties: .read,
                permissions: .readable,
                source: .fixed(PacketBuffer(value)),
                descriptors: formats.map { .presentationFormat($0) }
            )
        )
        return (fixture.client(mtu: 23), DiscoveredService(handles: published.handles, uuid: 0x1819))
    }

    /// The value and formats that the client reads from a characteristic, without prior knowledge.
    private func read(_ peer: ConnectedClient, _ service: DiscoveredService) throws -> (
        PacketBuffer, [PresentationFormat]
    ) {
        let client = peer.client
        let found = try #require(try peer.wait { client.discoverCharacteristics(of: service, completion: $0) }.first)
        let descriptors = try peer.wait { client.discoverDescriptors(of: found, completion: $0) }
        var handles = descriptors.filter { $0.uuid == GATTUUID.presentationFormat }.map(\.handle)
        if let aggregate = descriptors.first(where: { $0.uuid == GATTUUID.aggregateFormat }) {
            let list = try peer.wait { client.read(aggregate.handle, completion: $0) }
            handles = (0..<(list.count / 2)).map { UInt16(list[2 * $0]) | UInt16(list[2 * $0 + 1]) << 8 }
        }
        var formats: [PresentationFormat] = []
        for handle in handles {
            formats.append(try PresentationFormat(reading: try peer.wait { client.read(handle, completion: $0) }))
        }
        return (try peer.wait { client.read(found.value, completion: $0) }, formats)
    }

    @Test(
        "GATT/CL/GPA/BV-12, GATT/SR/GPA/BV-12: a value is shown by its presentation format",
        arguments: FormatSample.fixed + FormatSample.variable
    )
    func aValueWithItsFormat(_ sample: FormatSample) throws {
        let (peer, service) = try connect([sample.presentation], value: sample.octets)
        let (value, formats) = try read(peer, service)
        #expect(formats == [sample.presentation])
        #expect(value.bytes == sample.octets)
        #expect(formats.first?.text(of: value) == sample.text)
    }

    @Test("GATT/SR/GPA/BV-12: the presentation format is encoded as in the specification")
    func theDescriptorOnTheAir() throws {
        let fixture = try ServerFixture()
        _ = try fixture.database.add(
            0x1819,
            CharacteristicDefinition(
                0x2A6E,
                properties: .read,
                permissions: .readable,
                source: .fixed([0x25, 0xF0]),
                descriptors: [.presentationFormat(.init(.sint16, exponent: -5, unit: 0x27AC, detail: 0x0102))]
            )
        )
        let client = fixture.bareClient()
        #expect(client.exchange([0x04, 37, 0, 37, 0]) == [0x05, 1, 37, 0, 0x04, 0x29])
        #expect(client.exchange([0x0A, 37, 0]) == [0x0B, 0x0E, 0xFB, 0xAC, 0x27, 1, 2, 1])
        #expect(client.exchange([0x0A, 36, 0]) == [0x0B, 0x25, 0xF0])
    }

    @Test("GATT/CL/GPA/BV-11, GATT/SR/GPA/BV-11: an aggregate value is split by its formats")
    func anAggregateOfSeveralFormats() throws {
        // Two and more formats at a time, across all those of fixed length.
        let samples = FormatSample.fixed
        for count in 2...6 {
            for start in stride(from: 0, to: samples.count - count, by: 5) {
                let parts = samples[start..<(start + count)]
                let (peer, service) = try connect(parts.map(\.presentation), value: parts.flatMap(\.octets))
                let (value, formats) = try read(peer, service)
                #expect(formats == parts.map(\.presentation))
                let split = try #require(PresentationFormat.split(value, by: formats))
                #expect(zip(formats, split).map { $0.text(of: $1) } == parts.map(\.text))
            }
        }
    }

    @Test("GATT/SR/GPA/BV-11: the aggregate format is encoded as in the specification")
    func theAggregateOnTheAir() throws {
        let (peer, service) = try connect(
            [PresentationFormat(.uint8, unit: 0x2700), PresentationFormat(.uint16, unit: 0x2700)],
            value: [1, 2, 3]
        )
        #expect(service.handles == 34...39)
        peer.disconnect()
        let client = peer.fixture.bareClient()
        #expect(client.exchange([0x08, 34, 0, 39, 0, 0x05, 0x29]) == [0x09, 6, 39, 0, 37, 0, 38, 0])
        #expect(client.exchange([0x0A, 36, 0]) == [0x0B, 1, 2, 3])
    }

    @Test func aValueThatDoesNotFitItsFormats() {
        let byte = PresentationFormat(.uint8, unit: 0)
        let text = PresentationFormat(.utf8, unit: 0)
        #expect(PresentationFormat.split([1], by: [byte, byte]) == nil)
        #expect(PresentationFormat.split([1, 2, 3], by: [byte, byte]) == nil)
        #expect(PresentationFormat.split([1, 0x41, 0x42], by: [byte, text]) == [[1], [0x41, 0x42]])
        #expect(PresentationFormat.split([0x41, 1], by: [text, byte]) == nil)
        for sample in FormatSample.fixed {
            #expect(sample.presentation.text(of: PacketBuffer(Array(sample.octets.dropLast()))) == nil)
            #expect(sample.presentation.text(of: PacketBuffer(sample.octets + [0])) == nil)
        }
        #expect(PresentationFormat(.utf16, unit: 0).text(of: [1]) == nil)
    }

    @Test func truncatedAtEveryByte() {
        let octets: [UInt8] = [0x0E, 0xFB, 0xAC, 0x27, 1, 2, 1]
        for length in 0..<octets.count {
            #expect(throws: PacketError.self) {
                try PresentationFormat(reading: PacketBuffer(Array(octets[..<length])))
            }
        }
        for length in 0..<16 { #expect(DatabaseHash([UInt8](repeating: 1, count: length)) == nil) }
    }

    @Test func writableAuxiliaries() throws {
        let open = AttributePermissions(read: SecurityLevel.none, write: SecurityLevel.none)
        let fixture = try ServerFixture()
        let published = try fixture.database.add(
            0x1819,
            CharacteristicDefinition(
                0x2A6E,
                properties: [.read, .write],
                permissions: open,
                extendedProperties: .reliableWrite,
                descriptors: [
                    DescriptorDefinition(GATTUUID.userDescription, permissions: open, source: .asked)
                ]
            )
        )
        let client = fixture.bareClient()
        #expect(client.exchange([0x08, 34, 0, 38, 0, 0, 0x29]) == [0x09, 4, 37, 0, 3, 0])
        #expect(client.exchange([0x0A, 35, 0]).prefix(2) == [0x0B, 0x8A])
        #expect(published.characteristics[0].descriptors == [38])
        #expect(client.exchange([0x12, 38, 0, 0x41]) == [0x13])
        #expect(fixture.app.values[38] == [0x41])
    }
}
