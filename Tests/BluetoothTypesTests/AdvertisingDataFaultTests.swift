import BluetoothTypes
import EventLoops
import Testing

@Suite struct AdvertisingDataFaultTests {
    private func fault(
        _ structures: [AdvertisingStructure],
        for place: AdvertisingData.Place = .advertisement,
        limit: Int = 31
    ) -> AdvertisingDataFault? {
        do throws(AdvertisingDataFault) {
            try AdvertisingData(structures).check(for: place, limit: limit)
            return nil
        } catch {
            return error
        }
    }

    @Test func validStructuresHaveNoFault() {
        let structures: [AdvertisingStructure] = [
            .flags(.generalDiscoverable), .services([], width: .bits16, isComplete: true), .uri("https://a.example"),
            .uri("x"), .manufacturerData(.apple, []), .manufacturerData(.apple, [1]), .serviceData(0x180F, []),
            .connectionIntervalRange(.init(minimum: 6, maximum: 3_200)), .advertisingInterval(0x20),
            .supportedFeatures(0), .localName(.init("")),
            AdvertisingStructure(.publicTargetAddress, [0, 0, 0, 0, 0, 0]),
            AdvertisingStructure(AdvertisingDataType(rawValue: 0x3D), [1]),
            AdvertisingStructure(AdvertisingDataType(rawValue: 0x3D), [2]),
        ]
        #expect(fault(structures, limit: 1_650) == nil)
        #expect(fault([.txPowerLevel(4)], for: .scanResponse) == nil)
    }

    @Test(
        arguments: [
            .connectionIntervalRange(.init(minimum: 24, maximum: 23)),
            .connectionIntervalRange(.init(minimum: 5, maximum: nil)),
            AdvertisingStructure(.publicTargetAddress, []), AdvertisingStructure(.randomTargetAddress, []),
            .advertisingInterval(0x1F), .solicitedServices([], width: .bits16),
            AdvertisingStructure(.completeLocalName, [0xFF]), AdvertisingStructure(.flags, []),
            AdvertisingStructure(.completeServices16, [1]), AdvertisingStructure(.completeServices32, [1, 2]),
            AdvertisingStructure(.completeServices128, [1]), AdvertisingStructure(.serviceData16, [1]),
            AdvertisingStructure(.serviceData32, [1]), AdvertisingStructure(.serviceData128, [1]),
            AdvertisingStructure(.manufacturerData, [1]), AdvertisingStructure(.txPowerLevel, []),
            AdvertisingStructure(.appearance, [1]), AdvertisingStructure(.uri, []), AdvertisingStructure(.uri, [0xFF]),
            AdvertisingStructure(.longAdvertisingInterval, [1, 2]), AdvertisingStructure(.supportedFeatures, [1, 0]),
        ] as [AdvertisingStructure]
    )
    func valuesThatTheirTypeDoesNotAllowStay(structure: AdvertisingStructure) {
        #expect(fault([structure]) == .illegalValue(structure.type))
    }

    @Test func repeatedOrMisplacedStructuresAreFaults() {
        #expect(fault([.appearance(1), .appearance(1)]) == .repeated(.appearance))
        #expect(fault([.flags([])], for: .scanResponse) == .notInScanResponse(.flags))
        #expect(fault([.manufacturerData(.apple, [1, 2])], limit: 5) == .tooLong(octets: 6, limit: 5))
        #expect(AdvertisingDataFault.tooLong(octets: 6, limit: 5).description.contains("extended advertising"))
    }

    @Test("AB-G01: malformed fields of advertising data are decoded as far as possible")
    func lenientOnTheWayIn() {
        let data = AdvertisingData(parsing: [
            0x03, 0x12, 0x06, 0x00, 0x08, 0x17, 1, 2, 3, 4, 5, 6, 7, 0x02, 0x1A, 0x01, 0x03, 0x2F, 1, 2, 0x02, 0x24,
            0xFF,
            0x0A, 0x27, 1, 2, 3, 4, 5, 6, 7, 8, 9,
        ])
        #expect(data.structures.count == 6)
        #expect(data.connectionIntervalRange == nil)
        #expect(data.advertisingInterval == nil)
        #expect(data.uri == nil)
        #expect(data.targetAddresses == [BluetoothAddress(0x0605_0403_0201, kind: .publicDevice)])
        #expect(data.supportedFeatures == 0x0807_0605_0403_0201)
    }

    @Test("AB-G01: random values of every type decode without a trap")
    func randomValuesOfEveryTypeAreReadWithoutATrap() {
        let random = RandomSource(seed: 7)
        for _ in 0..<5_000 {
            let type = AdvertisingDataType(rawValue: UInt8(random.below(0x40)))
            let payload = PacketBuffer(random.bytes(Int(random.below(20))))
            let data = AdvertisingData([AdvertisingStructure(type, payload)])
            _ = (data.uri, data.connectionIntervalRange, data.targetAddresses, data.advertisingInterval)
            _ = (data.supportedFeatures, data.flags, data.localName, data.serviceData, data.txPowerLevel)
            _ = fault(data.structures)
            #expect(AdvertisingData(parsing: data.encoded) == data)
        }
    }
}
