import ATT
import BluetoothTypes
import Testing

@testable import GATT

/// Responses with several entries: as many as fit, to the octet, at every MTU.
@Suite struct ServerAnswerTests {
    private static let mtus = Array(23...90) + [255, 256, 257, 258, 259, 260, 261, 515, 516, 517]
    private let fixture: ServerFixture
    /// The declarations of 60 services with short UUIDs, followed by 30 with long ones.
    private let (short, long): ([UInt16], [UInt16])

    init() throws {
        let fixture = try ServerFixture()
        short = try (0..<60).map { _ in try fixture.database.add(ServiceDefinition(0x1805)).handles.lowerBound }
        long = try (0..<30).map { _ in try fixture.database.add(ServiceDefinition(.long)).handles.lowerBound }
        self.fixture = fixture
    }

    private func octets(_ value: UInt16) -> [UInt8] { [UInt8(truncatingIfNeeded: value), UInt8(value >> 8)] }

    /// Expects a response at an MTU: the header, then as many of the entries as fit.
    private func expect(
        _ answer: [UInt8],
        _ header: [UInt8],
        _ entries: [[UInt8]],
        _ mtu: Int,
        _ place: SourceLocation = #_sourceLocation
    ) {
        let size = entries.first?.count ?? 1
        let expected = header + entries.prefix((mtu - header.count) / size).flatMap(\.self)
        #expect(answer == expected, "MTU \(mtu)", sourceLocation: place)
    }

    @Test(arguments: mtus)
    func asManyEntriesAsFit(mtu: Int) {
        let client = fixture.bareClient()
        client.agree(UInt16(mtu))
        let (longUUID, end) = (BluetoothUUID.long.littleEndianBytes, [UInt8(0xFF), 0xFF])
        let (fromShort, fromLong) = (octets(short[0]) + end, octets(long[0]) + end)
        let primary: [UInt8] = [0x00, 0x28]
        // Read By Group Type (Core Vol 3 Part F 3.4.4.10).
        expect(
            client.exchange([0x10] + fromShort + primary),
            [0x11, 6],
            short.map { octets($0) + octets($0) + [0x05, 0x18] },
            mtu
        )
        expect(
            client.exchange([0x10] + fromLong + primary),
            [0x11, 20],
            long.map { octets($0) + octets($0) + longUUID },
            mtu
        )
        // Read By Type (3.4.4.2).
        expect(client.exchange([0x08] + fromShort + primary), [0x09, 4], short.map { octets($0) + [0x05, 0x18] }, mtu)
        expect(client.exchange([0x08] + fromLong + primary), [0x09, 18], long.map { octets($0) + longUUID }, mtu)
        // Find Information (3.4.3.2); the long services have short types too.
        expect(client.exchange([0x04] + fromShort), [0x05, 1], (short + long).map { octets($0) + primary }, mtu)
        // Find By Type Value (3.4.3.4).
        let find = [0x06] + fromShort + primary
        expect(client.exchange(find + [0x05, 0x18]), [0x07], short.map { octets($0) + octets($0) }, mtu)
        expect(client.exchange(find + longUUID), [0x07], long.map { octets($0) + octets($0) }, mtu)
    }

    /// Entries of only a handle: half as many as there are octets.
    @Test(arguments: mtus)
    func valuesWithoutOctetsAreReadByTheirType(mtu: Int) throws {
        let empty = CharacteristicDefinition(0x2AAA, properties: .read, permissions: .readable)
        let service = try fixture.database.add(
            ServiceDefinition(0x1805, characteristics: Array(repeating: empty, count: 300))
        )
        let handles = service.characteristics.map(\.value)
        let client = fixture.bareClient()
        client.agree(UInt16(mtu))
        let answer = client.exchange([0x08, 1, 0, 0xFF, 0xFF, 0xAA, 0x2A])
        expect(answer, [0x09, 2], handles.map(octets), mtu)
        // The app is not asked for more values than fit.
        #expect(fixture.app.reads.count == (mtu - 2) / 2)
    }

    /// Two values of half the space each, the second one equal, or an octet longer or shorter.
    @Test(arguments: [0, 1, -1])
    func valuesOfOneLengthStandTogether(difference: Int) throws {
        let value = CharacteristicDefinition(0x2AAA, properties: .read, permissions: .readable)
        let service = try fixture.database.add(ServiceDefinition(0x1805, characteristics: [value, value]))
        let handles = service.characteristics.map(\.value)
        let values = [8, 8 + difference].map { [UInt8](repeating: 7, count: $0) }
        for (handle, value) in zip(handles, values) { fixture.app.values[handle] = value }
        let answer = fixture.bareClient().exchange([0x08, 1, 0, 0xFF, 0xFF, 0xAA, 0x2A])
        let entries = zip(handles, values).map { octets($0) + $1 }
        #expect(answer == [0x09, 10] + entries[0] + (difference == 0 ? entries[1] : []))
    }

    /// Two values fill the response, and the app is not asked for a third.
    @Test func valuesThatDoNotFitAreNotRequested() throws {
        let value = CharacteristicDefinition(0x2AAA, properties: .read, permissions: .readable)
        let service = try fixture.database.add(ServiceDefinition(0x1805, characteristics: [value, value, value]))
        let handles = service.characteristics.map(\.value)
        for handle in handles { fixture.app.values[handle] = [UInt8](repeating: 7, count: 8) }
        #expect(fixture.bareClient().exchange([0x08, 1, 0, 0xFF, 0xFF, 0xAA, 0x2A]).count == 22)
        #expect(fixture.app.reads.count == 2)
    }

    /// Only types of one width are listed together, however much space there is (Core Vol 3 Part F 3.4.3.2).
    @Test func typesOfOneWidthStandTogether() {
        let client = fixture.bareClient()
        client.agree(517)
        #expect(client.exchange([0x04, 15, 0, 22, 0]) == [0x05, 1, 15, 0, 0, 0x28, 16, 0, 3, 0x28])
        let long = BluetoothUUID.longCharacteristic.littleEndianBytes
        #expect(client.exchange([0x04, 17, 0, 22, 0]) == [0x05, 2, 17, 0] + long)
    }

    /// The attributes found by type and value: those with these octets and this type that any client may read and whose
    /// value is in the database; a service by its UUID in either width (Core Vol 3 Part F 3.4.3.3).
    @Test(arguments: [LinkSecurity(), LinkSecurity(isEncrypted: true, isAuthenticated: true)])
    func findByTypeValue(security: LinkSecurity) throws {
        let fixture = try ServerFixture()
        let heartRate: [UInt8] = [0x0D, 0x18]
        func value(_ type: UInt16, _ read: SecurityLevel?, _ octets: [UInt8]?) -> CharacteristicDefinition {
            CharacteristicDefinition(
                BluetoothUUID(type),
                properties: .read,
                permissions: AttributePermissions(read: read),
                source: octets.map { .fixed(PacketBuffer($0)) } ?? .asked
            )
        }
        let characteristics = [
            value(0x2AAA, SecurityLevel.none, heartRate), value(0x2AAA, .encrypted, heartRate),
            value(0x2AAA, nil, heartRate), value(0x2AAA, SecurityLevel.none, nil),
            value(0x2AAA, SecurityLevel.none, BluetoothUUID(0x180D).expanded.littleEndianBytes),
            value(0x2AAB, SecurityLevel.none, heartRate), value(0x2AAA, SecurityLevel.none, heartRate),
        ]
        let service = try fixture.database.add(ServiceDefinition(0x1805, characteristics: characteristics))
        let handles = service.characteristics.map(\.value)
        for handle in handles { fixture.app.values[handle] = heartRate }
        let client = fixture.bareClient()
        client.agree(517)
        client.session.security = security
        for (type, octets, found) in [
            ([0xAA, 0x2A], heartRate, [handles[0], handles[6]]), ([0xAB, 0x2A], heartRate, [handles[5]]),
            ([0xAA, 0x2A], BluetoothUUID(0x180D).expanded.littleEndianBytes, [handles[4]]),
            ([0xAA, 0x2A], [0x0D], []), ([0xAC, 0x2A], heartRate, []), ([0x00, 0x28], [0x0D], []),
        ] as [([UInt8], [UInt8], [UInt16])] {
            let groups = found.flatMap { self.octets($0) + self.octets($0) }
            let expected = found.isEmpty ? client.error(0x06, 1, .attributeNotFound) : [0x07] + groups
            #expect(client.exchange([0x06, 1, 0, 0xFF, 0xFF] + type + octets) == expected)
        }
        for octets in [heartRate, BluetoothUUID(0x180D).expanded.littleEndianBytes] {
            #expect(client.exchange([0x06, 1, 0, 0xFF, 0xFF, 0, 0x28] + octets) == [0x07, 19, 0, 33, 0])
        }
        #expect(fixture.app.reads.isEmpty)
    }

    /// Everything that a bearer treats as a request is answered.
    @Test func aRequestThatIsNoneOfOursIsNotSupported() {
        let client = fixture.bareClient()
        client.session.bearer.onRequest = { [session = client.session] _, reply in
            session.serve(.handleValueConfirmation(ATTHandleValueConfirmation()), reply)
        }
        #expect(client.exchange([0x0A, 14, 0]) == client.error(0x0A, 0, .requestNotSupported))
    }

    /// Values truncated to 253 octets count as being of that length (Core Vol 3 Part F 3.4.4.2).
    @Test(arguments: [(253, 254), (254, 253), (300, 512), (253, 252)])
    func valuesThatAreCutStandTogether(first: Int, second: Int) throws {
        let value = CharacteristicDefinition(0x2AAA, properties: .read, permissions: .readable)
        let service = try fixture.database.add(ServiceDefinition(0x1805, characteristics: [value, value]))
        let handles = service.characteristics.map(\.value)
        for (handle, count) in zip(handles, [first, second]) {
            fixture.app.values[handle] = [UInt8](repeating: 7, count: count)
        }
        let client = fixture.bareClient()
        client.agree(517)
        let entries = handles.map { octets($0) + [UInt8](repeating: 7, count: 253) }
        let answer = client.exchange([0x08, 1, 0, 0xFF, 0xFF, 0xAA, 0x2A])
        #expect(answer == [0x09, 255] + entries.prefix(second < 253 ? 1 : 2).flatMap(\.self))
    }

    /// The length of an entry is one octet (Core Vol 3 Part F 3.4.4.2).
    @Test(arguments: mtus)
    func aLongValueIsCutToWhatAnEntryHolds(mtu: Int) {
        let client = fixture.bareClient()
        client.agree(UInt16(mtu))
        let count = min(mtu - 4, 253)
        let value = (0..<count).map { UInt8(truncatingIfNeeded: $0) }
        #expect(client.exchange([0x08, 26, 0, 26, 0, 0x38, 0x2A]) == [0x09, UInt8(count + 2), 26, 0] + value)
    }
}
