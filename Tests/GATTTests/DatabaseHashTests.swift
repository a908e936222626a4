import BluetoothTypes
import Testing

@testable import GATT

@Suite struct DatabaseHashTests {
    private func attribute(_ handle: UInt16, _ type: BluetoothUUID, _ value: PacketBuffer) -> Attribute {
        Attribute(handle: handle, type: type, permissions: .readable, source: .fixed(value), groupEnd: handle)
    }

    private func attribute(_ handle: UInt16, _ type: BluetoothUUID) -> Attribute {
        Attribute(handle: handle, type: type, permissions: .readable, source: .asked, groupEnd: handle)
    }

    /// The database and the hash of Core Vol 3 Part G Appendix B.
    @Test("GATT/SR/GAS/BV-02: the hash of the specification's sample database is the one printed there")
    func theSpecificationsSample() {
        let database = [
            attribute(1, 0x2800, [0x00, 0x18]), attribute(2, 0x2803, [0x0A, 3, 0, 0x00, 0x2A]),
            attribute(3, 0x2A00), attribute(4, 0x2803, [0x02, 5, 0, 0x01, 0x2A]), attribute(5, 0x2A01),
            attribute(6, 0x2800, [0x01, 0x18]), attribute(7, 0x2803, [0x20, 8, 0, 0x05, 0x2A]), attribute(8, 0x2A05),
            attribute(9, 0x2902), attribute(10, 0x2803, [0x0A, 11, 0, 0x29, 0x2B]), attribute(11, 0x2B29),
            attribute(12, 0x2803, [0x02, 13, 0, 0x2A, 0x2B]), attribute(13, 0x2B2A),
            attribute(14, 0x2800, [0x08, 0x18]), attribute(15, 0x2802, [0x14, 0, 0x16, 0, 0x0F, 0x18]),
            attribute(16, 0x2803, [0xA2, 17, 0, 0x18, 0x2A]), attribute(17, 0x2A18), attribute(18, 0x2902),
            attribute(19, 0x2900, [0, 0]), attribute(20, 0x2801, [0x0F, 0x18]),
            attribute(21, 0x2803, [0x02, 22, 0, 0x19, 0x2A]), attribute(22, 0x2A19),
        ]
        let hash = DatabaseHash(of: database)
        #expect(hash.description == "f1ca2d48ecf58bac8a8830bbb9fba990")
        #expect(hash.octets.first == 0x90)
        #expect(DatabaseHash(hash.octets) == hash)
        #expect(DatabaseHash([1, 2, 3]) == nil)
    }

    @Test func onlyDefinitionsAreHashed() throws {
        let database = GATTDatabase()
        let empty = database.hash
        let definition = ServiceDefinition(
            0x180D,
            characteristics: [
                CharacteristicDefinition(
                    0x2A38,
                    properties: [.read, .notify],
                    permissions: .readable,
                    source: .fixed([1]),
                    descriptors: [.userDescription("one")]
                )
            ]
        )
        let service = try database.add(definition)
        let first = database.hash
        #expect(first != empty)
        // Neither a value nor a descriptor's contents are part of the hash.
        try database.setValue([2], of: service.characteristics[0].value)
        try database.setValue([3], of: service.characteristics[0].descriptors[0])
        #expect(database.hash == first)
        try database.remove(service.handles.lowerBound)
        #expect(database.hash == empty)
        // The same service at other handles is a different database.
        _ = try database.add(definition)
        #expect(database.hash != first)
    }

    @Test func extendedPropertiesAreHashedWithTheirValue() throws {
        let hashes = try [UInt16(1), 2].map { bits in
            let database = GATTDatabase()
            _ = try database.add(
                0x180D,
                CharacteristicDefinition(
                    0x2A38,
                    properties: .write,
                    permissions: .readable,
                    extendedProperties: ExtendedProperties(rawValue: bits)
                )
            )
            return database.hash
        }
        #expect(hashes[0] != hashes[1])
    }
}

@Suite struct HandleRangesTests {
    @Test(
        arguments: [
            ([1...3, 5...6], [1...3, 5...6]), ([5...6, 1...3], [1...3, 5...6]), ([1...3, 4...6], [1...6]),
            ([4...6, 1...3], [1...6]), ([1...9, 3...4], [1...9]), ([3...4, 1...9], [1...9]),
            ([1...2, 8...9, 3...7], [1...9]), ([1...0xFFFF, 0xFFFF...0xFFFF], [1...0xFFFF]),
            ([0xFFFF...0xFFFF, 1...1], [1...1, 0xFFFF...0xFFFF]),
        ] as [([ClosedRange<UInt16>], [ClosedRange<UInt16>])]
    )
    func rangesThatTouchAreOne(added: [ClosedRange<UInt16>], result: [ClosedRange<UInt16>]) {
        var ranges = HandleRanges()
        for range in added { ranges.insert(range) }
        #expect(ranges.ranges == result)
        #expect(ranges.popFirst() == result.first)
    }

    @Test func theirNumberIsBounded() {
        var ranges = HandleRanges()
        for index in 0..<100 { ranges.insert(UInt16(index * 10 + 1)...UInt16(index * 10 + 2)) }
        #expect(ranges.ranges.count == HandleRanges.maximumCount)
        #expect(ranges.ranges.first?.lowerBound == 1)
        #expect(ranges.ranges.last?.upperBound == 992)
    }
}

@Suite struct ChangeAwarenessTests {
    private final class Bearer {}
    private let one = Bearer()
    private let two = Bearer()

    private func refuses(
        _ awareness: inout ChangeAwareness,
        _ bearer: Bearer,
        naming: Bool = true,
        alone: Bool = true,
        robust: Bool = true
    ) -> Bool {
        awareness.refuses(naming: naming, on: ObjectIdentifier(bearer), isOnlyBearer: alone, isRobust: robust)
    }

    @Test func oneBearer() {
        var awareness = ChangeAwareness()
        #expect(!refuses(&awareness, one))
        awareness.databaseChanged()
        #expect(!refuses(&awareness, one, naming: false))
        #expect(!awareness.isAware)
        #expect(refuses(&awareness, one))
        // After another change it is refused again.
        awareness.databaseChanged()
        #expect(refuses(&awareness, one))
        #expect(!awareness.isAware)
        // Any request makes the client aware, including one that names no handle.
        #expect(!refuses(&awareness, one, naming: false))
        #expect(awareness.isAware)
    }

    @Test func readingTheHash() {
        var awareness = ChangeAwareness()
        awareness.databaseChanged()
        awareness.readHash()
        #expect(!awareness.isAware)
        awareness.databaseChanged()
        #expect(refuses(&awareness, one))
        awareness.readHash()
        #expect(!refuses(&awareness, one))
        #expect(awareness.isAware)
        awareness.readHash()
        #expect(awareness.isAware)
    }

    @Test func aClientThatHasNotAnnouncedIt() {
        var awareness = ChangeAwareness()
        awareness.databaseChanged()
        #expect(!refuses(&awareness, one, robust: false))
        #expect(!awareness.isAware)
    }

    @Test func severalBearers() {
        var awareness = ChangeAwareness()
        awareness.databaseChanged()
        // Once on each bearer; neither a further request nor a confirmation makes the client aware.
        #expect(refuses(&awareness, one, alone: false))
        #expect(refuses(&awareness, two, alone: false))
        #expect(!refuses(&awareness, one, alone: false))
        awareness.confirmed(isOnlyBearer: false)
        #expect(!awareness.isAware)
        // The second bearer is gone, and a new one has the same place in memory.
        awareness.bearerClosed(ObjectIdentifier(two))
        #expect(refuses(&awareness, two, alone: false))
        awareness.readHash()
        #expect(!refuses(&awareness, two, alone: false))
        #expect(awareness.isAware)
        awareness.bearerClosed(ObjectIdentifier(two))
        #expect(awareness.isAware)
    }

    @Test func theConfirmation() {
        var awareness = ChangeAwareness()
        awareness.databaseChanged()
        awareness.confirmed(isOnlyBearer: true)
        #expect(awareness.isAware)
    }
}
