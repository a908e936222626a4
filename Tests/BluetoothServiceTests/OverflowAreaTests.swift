import BluetoothService
import BluetoothTypes
import ServiceMessages
import Testing

@Suite struct OverflowAreaTests {
    @Test(
        "behaviour 2.33: the bit of a service in the overflow area equals Apple's",
        arguments: [
            ("00000000-0000-0000-0000-000000000000", 7), ("C007", 35), ("C008", 60), ("1001", 62), ("3333", 62),
            ("2F234454-CF6D-4A0F-ADF2-F4911BA9FFA6", 84), ("9AA4730F-B25C-4CC3-B821-C931559FC196", 69),
        ]
    )
    func hashOfAService(text: String, index: Int) throws {
        #expect(OverflowArea.index(of: try #require(BluetoothUUID(text))) == index)
    }

    @Test(
        "behaviour 2.31: the overflow area is encoded like Apple's, and follows the flags in a background advertisement",
        arguments: [
            ("00000000-0000-0000-0000-000000000000", "01000000000000000000000000000000"),
            ("C007", "00000000100000000000000000000000"),
            ("C008", "00000000000000080000000000000000"),
            ("2F234454-CF6D-4A0F-ADF2-F4911BA9FFA6", "00000000000000000000080000000000"),
        ]
    )
    func structureOnTheAir(text: String, mask: String) throws {
        let area = OverflowArea([try #require(BluetoothUUID(text))])
        let octets = AdvertisingData([area.structure]).encoded
        #expect(octets.description == "14ff4c0001" + mask)
        #expect(octets.count == OverflowArea.encodedLength)
        #expect(OverflowArea(in: AdvertisingData(parsing: octets)) == area)
        var content = AdvertisingContent(localName: "Strap", services: [try #require(BluetoothUUID(text))])
        content.isHidden = true
        let plan = AdvertisingPlanner.plan(for: [content])
        #expect(plan.advertisement.encoded.description == "02011a" + octets.description)
        #expect(plan.scanResponse.isEmpty)
    }

    @Test("behaviour 2.32: the masks of several services are combined")
    func masksOfSeveralServicesAreCombined() throws {
        let area = OverflowArea([0xC007, 0xC008])
        #expect(area.mayContain(0xC007))
        #expect(area.mayContain(0xC008))
        #expect(!area.mayContain(0x180D))
        #expect(area.mask.reduce(0) { $0 + $1.nonzeroBitCount } == 2)
        // Bits 60 and 62, which share an octet.
        let near = OverflowArea([0xC008, 0x1001])
        #expect(near.mayContain(0xC008) && near.mayContain(0x1001) && near.mask[7] == 0x0A)
    }

    @Test("behaviour 2.35: services that share a bit of the overflow area cannot be told apart")
    func servicesThatShareABitAreTakenForEachOther() {
        #expect(OverflowArea([0x1001]).mayContain(0x3333))
    }

    @Test func otherManufacturerDataHasNoArea() {
        let beacon = AdvertisingData([
            .manufacturerData(.apple, PacketBuffer([0x02, 0x15] + [UInt8](repeating: 0, count: 21)))
        ])
        #expect(OverflowArea(in: beacon) == nil)
        #expect(OverflowArea(in: AdvertisingData([.manufacturerData(.apple, [0x01])])) == nil)
        #expect(OverflowArea(in: AdvertisingData()) == nil)
        // Data as long as an overflow area but of another type, and an area after other Apple data.
        let other = AdvertisingStructure.manufacturerData(
            .apple,
            PacketBuffer([0x10] + [UInt8](repeating: 0xFF, count: 16))
        )
        #expect(OverflowArea(in: AdvertisingData([other])) == nil)
        let area = OverflowArea([0xC007])
        #expect(OverflowArea(in: AdvertisingData([other, area.structure])) == area)
    }
}
