import BluetoothTypes
import GATT
import Testing

@Suite struct DatabaseTests {
    let database = GATTDatabase()
    private let characteristic = CharacteristicDefinition(
        0x2A19,
        properties: [.read, .notify],
        permissions: .readable,
        extendedProperties: .reliableWrite,
        descriptors: [.userDescription("x"), .presentationFormat(PresentationFormat(.uint8, unit: 0x2700))]
    )

    @Test func descriptorsComeByThemselves() throws {
        let published = try database.add(ServiceDefinition(0x180F, characteristics: [characteristic]))
        #expect(published.handles == 1...7)
        // Declaration, characteristic, value, extended properties, the two given ones, configuration.
        #expect(
            published.characteristics == [PublishedCharacteristic(value: 3, configuration: 7, descriptors: [5, 6])]
        )
    }

    @Test func handlesAreStableAndNotGivenAgain() throws {
        let first = try database.add(ServiceDefinition(0x0001))
        let second = try database.add(ServiceDefinition(0x0002, characteristics: [characteristic]))
        try database.remove(first.handles.lowerBound)
        let third = try database.add(ServiceDefinition(0x0003))
        #expect(second.handles == 2...8)
        #expect(third.handles == 9...9)
        try database.remove(third.handles.lowerBound)
        #expect(try database.add(ServiceDefinition(0x0003)).handles == 10...10)
    }

    @Test func gapsAreUsedWhenNoFreshHandlesAreLeft() throws {
        let many = ServiceDefinition(
            0x0001,
            characteristics: Array(repeating: characteristic, count: 600)
        )
        var last: UInt16 = 0
        for _ in 0..<18 {
            if last > 0 { try database.remove(last) }
            last = try database.add(many).handles.lowerBound
        }
        #expect(last == 1 + 17 * 3601)
        // 65,535 - 18 * 3,601 leaves 717 fresh handles; the next large service goes to the front.
        #expect(throws: GATTDatabaseError.full) { try database.add(many) }
        try database.remove(last)
        #expect(try database.add(many).handles.lowerBound == 1)
        #expect(try database.add(ServiceDefinition(0x0002)).handles == 64819...64819)
    }

    @Test("behaviour 7.9: a service that includes others is added after them and removed before them")
    func includedServicesComeFirstAndGoLast() throws {
        #expect(throws: GATTDatabaseError.unknownService(1)) {
            try database.add(ServiceDefinition(0x0001, includedServices: [1]))
        }
        let inner = try database.add(ServiceDefinition(0x0001, isPrimary: false)).handles.lowerBound
        let outer = try database.add(ServiceDefinition(0x0002, includedServices: [inner])).handles.lowerBound
        #expect(throws: GATTDatabaseError.included(by: outer)) { try database.remove(inner) }
        try database.remove(outer)
        try database.remove(inner)
        #expect(throws: GATTDatabaseError.unknownService(inner)) { try database.remove(inner) }
    }

    @Test func valuesHaveAtMost512Octets() throws {
        let long = PacketBuffer([UInt8](repeating: 0, count: 513))
        let tooLong = CharacteristicDefinition(
            0x2A19,
            properties: .read,
            permissions: .readable,
            source: .fixed(long)
        )
        #expect(throws: GATTDatabaseError.valueTooLong(0x2A19)) {
            try database.add(ServiceDefinition(0x180F, characteristics: [tooLong]))
        }
        let name = try database.add(.genericAccess(deviceName: "a", appearance: 0)).characteristics[0].value
        #expect(throws: GATTDatabaseError.valueTooLong(0x2A00)) { try database.setValue(long, of: name) }
        #expect(throws: GATTDatabaseError.noFixedValue(99)) { try database.setValue([1], of: 99) }
        try database.setValue([0x62], of: name)
    }
}
