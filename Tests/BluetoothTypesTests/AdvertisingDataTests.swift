import BluetoothTypes
import EventLoops
import Testing

@Suite struct AdvertisingDataTests {
    /// The complete advertisement of a heart-rate sensor, with every kind of field once.
    private static let full = AdvertisingData([
        .flags([.generalDiscoverable, .classicNotSupported]),
        .services([0x180D, 0x180F], width: .bits16, isComplete: true),
        .services([BluetoothUUID(bits32: 0x1234_5678)], width: .bits32, isComplete: false),
        .services([BluetoothUUID(high: 1, low: 2)], width: .bits128, isComplete: true),
        .solicitedServices([0x1805], width: .bits16),
        .solicitedServices([BluetoothUUID(bits32: 7)], width: .bits32),
        .solicitedServices([BluetoothUUID(high: 3, low: 4)], width: .bits128),
        .localName(.init("Ticker")),
        .txPowerLevel(-8),
        .serviceData(0x180F, [64]),
        .serviceData(BluetoothUUID(high: 3, low: 4), []),
        .manufacturerData(.apple, [0xAA]),
        .appearance(0x0341),
    ])

    @Test func everyFieldSurvivesTheAir() {
        let data = AdvertisingData(parsing: Self.full.encoded)
        #expect(data == Self.full)
        #expect(data.encodedLength == data.encoded.count)
        #expect(data.flags == AdvertisingFlags(rawValue: 0x06))
        #expect(
            data.serviceUUIDs == [0x180D, 0x180F, BluetoothUUID(bits32: 0x1234_5678), BluetoothUUID(high: 1, low: 2)]
        )
        #expect(data.solicitedServiceUUIDs == [0x1805, 0x0007, BluetoothUUID(high: 3, low: 4)])
        #expect(data.localName == .init("Ticker"))
        #expect(data.txPowerLevel == -8)
        #expect(data.serviceData.map(\.service) == [0x180F, BluetoothUUID(high: 3, low: 4)])
        #expect(data.serviceData.map(\.data) == [[64], []])
        #expect(data.manufacturerData == [0x4C, 0x00, 0xAA])
        #expect(data.manufacturerData(of: .apple) == [[0xAA]])
        #expect(data.appearance == 0x0341)
    }

    @Test func wireFormatIsLittleEndian() {
        let data = AdvertisingData([
            .services([0x180D], width: .bits16, isComplete: true),
            .manufacturerData(CompanyIdentifier(rawValue: 0x0059), [1]),
        ])
        #expect(data.encoded == [0x03, 0x03, 0x0D, 0x18, 0x04, 0xFF, 0x59, 0x00, 0x01])
    }

    @Test("AB-G01: data truncated at any octet decode to the whole structures before the cut")
    func cutAtEveryOctetThePrefixIsRead() {
        let octets = Self.full.encoded
        for length in 0...octets.count {
            let data = AdvertisingData(parsing: octets.prefix(upTo: length))
            // Every structure that is complete, and no other.
            var end = 0
            let whole = Self.full.structures.prefix { structure in
                end += structure.encodedLength
                return end <= length
            }
            #expect(data.structures == Array(whole), "\(length) octets")
        }
    }

    @Test(
        "AB-G01: the valid beginning of the data is decoded and the rest ignored",
        arguments: [
            ([0x02, 0x01, 0x06, 0x00, 0x02, 0x0A, 0x04], 1),  // a length of zero before the end
            ([0x02, 0x01, 0x06, 0xFF, 0x09, 0x41], 1),  // 255 in legacy data
            ([0x05, 0x09, 0x41], 0),  // a length beyond the end
            ([UInt8](repeating: 0x01, count: 31), 15),  // structures of one octet each
            ([0x00], 0), ([], 0), ([0x01], 0), ([0x01, 0xFF], 1),
        ] as [([UInt8], Int)]
    )
    func validPrefixIsReadAndTheRestIgnored(octets: [UInt8], structures: Int) {
        let data = AdvertisingData(parsing: PacketBuffer(octets))
        #expect(data.structures.count == structures)
        #expect(data.encoded == PacketBuffer(Array(octets.prefix(data.encodedLength))))
    }

    @Test("AB-G01: a duplicate, shortened or invalid name is decoded as well as possible")
    func namesCanBeDoubledShortenedOrNoText() {
        let doubled = AdvertisingData([
            .localName(.init("Sho", isShortened: true)), .localName(.init("Short")), .localName(.init("Other")),
        ])
        #expect(doubled.localName == .init("Short"))
        #expect(AdvertisingData(parsing: [0x03, 0x08, 0xFF, 0xFE]).localName?.isShortened == true)
        #expect(AdvertisingData(parsing: [0x01, 0x09]).localName == .init(""))
    }

    @Test("AB-G01: values of a wrong length count as absent")
    func valuesOfAWrongLengthAreNotThere() {
        let data = AdvertisingData(parsing: [
            0x03, 0x0A, 0x01, 0x02, 0x02, 0x19, 0x01, 0x02, 0xFF, 0x4C, 0x02, 0x16, 0x0D, 0x04, 0x03, 0x0D, 0x18, 0x0F,
            0x01,
            0x01,
        ])
        #expect(data.txPowerLevel == nil)
        #expect(data.appearance == nil)
        #expect(data.manufacturerData == nil)
        #expect(data.serviceData.isEmpty)
        #expect(data.serviceUUIDs == [0x180D])
        #expect(data.flags == nil)
    }

    @Test("AB-G01: no more is decoded than extended advertising can carry")
    func extendedLengthIsBounded() {
        let endless = PacketBuffer((0..<1_000).flatMap { _ in [0x02, 0x0A, 0x04] as [UInt8] })
        #expect(AdvertisingData(parsing: endless).structures.count == AdvertisingData.maximumLength / 3)
    }

    @Test func aPayloadThatNoLengthOctetCanTellIsCut() {
        let data = AdvertisingData([
            AdvertisingStructure(.manufacturerData, PacketBuffer([UInt8](repeating: 1, count: 300)))
        ])
        #expect(AdvertisingData(parsing: data.encoded) == data)
        #expect(data.encodedLength == 256)
    }

    @Test("AB-G01: random octets are encoded as they were decoded")
    func randomOctetsAreReadAndWrittenAlike() {
        let random = RandomSource(seed: 1)
        for _ in 0..<2_000 {
            let octets = PacketBuffer(random.bytes(Int(random.below(300))).map { $0 & 0x1F })
            let data = AdvertisingData(parsing: octets)
            #expect(data.encoded == octets.prefix(upTo: data.encodedLength))
            #expect(AdvertisingData(parsing: data.encoded) == data)
            _ = (data.localName, data.serviceUUIDs, data.solicitedServiceUUIDs, data.serviceData, data.appearance)
        }
    }
}
