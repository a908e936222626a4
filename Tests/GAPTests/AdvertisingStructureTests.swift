import AccessStandIns
import BluetoothTypes
import Testing

@testable import GAP

/// Advertising data types, sent by one complete stack and read by another (Core Specification Supplement Part A).
@Suite struct AdvertisingStructureTests {
    /// Returns the data that another device receives for these structures.
    private func read(_ structures: [AdvertisingStructure]) throws -> AdvertisingData {
        let world = GAPWorld(.extended)
        let (sender, listener) = (world.device(), world.device())
        let broadcaster = sender.access.advertiser.addSet()
        var failure: GAPError?
        broadcaster.onFailed = { failure = $0 }
        broadcaster.want(AdvertisingConfiguration(.nonConnectable, data: AdvertisingData(structures)))
        let heard = try listener.hear(for: .seconds(1))
        #expect(failure == nil)
        return try #require(heard.first).data
    }

    private static let long = BluetoothUUID(high: 0x2F23_4454_CF6D_4A0F, low: 0xADF2_F491_1BA9_FFA6)

    @Test("GAP/ADV/BV-01: service UUIDs of each width are written and read", arguments: [true, false])
    func readsServiceUUIDs(isComplete: Bool) throws {
        let data = try read([
            .services([0x180D, 0x180F], width: .bits16, isComplete: isComplete),
            .services([BluetoothUUID(bits32: 0x1234_5678)], width: .bits32, isComplete: isComplete),
        ])
        #expect(data.serviceUUIDs == [0x180D, 0x180F, BluetoothUUID(bits32: 0x1234_5678)])
        #expect(
            data.structures.map(\.type)
                == (isComplete
                    ? [.completeServices16, .completeServices32] : [.incompleteServices16, .incompleteServices32])
        )
        let longer = try read([.services([Self.long], width: .bits128, isComplete: isComplete)])
        #expect(longer.serviceUUIDs == [Self.long])
    }

    @Test("GAP/ADV/BV-02: a local name is written and read", arguments: [true, false])
    func readsALocalName(isShortened: Bool) throws {
        let name = AdvertisingData.LocalName("Grüße", isShortened: isShortened)
        #expect(try read([.localName(name)]).localName == name)
    }

    @Test("GAP/ADV/BV-03: the flags of a discoverable device are on the air")
    func flagsAreOnTheAir() throws {
        let world = GAPWorld(.legacy)
        let (sender, listener) = (world.device(), world.device())
        let peripheral = Peripheral(sender.access)
        peripheral.enter(.init(.general, .undirected))
        let data = try #require(try listener.hear().first).data
        #expect(data.encoded == [2, 1, 6])
    }

    @Test("GAP/ADV/BV-04: manufacturer data are written and read")
    func readsManufacturerData() throws {
        let company = CompanyIdentifier(rawValue: 0xFFFF)
        #expect(try read([.manufacturerData(company, [1, 2, 3])]).manufacturerData(of: company) == [[1, 2, 3]])
    }

    @Test("GAP/ADV/BV-05: a TX power level is written and read", arguments: [-127, 0, 20])
    func readsATxPowerLevel(power: Int) throws {
        #expect(try read([.txPowerLevel(power)]).txPowerLevel == power)
    }

    @Test("GAP/ADV/BV-08: a connection interval range is written and read")
    func readsAConnectionIntervalRange() throws {
        let range = AdvertisingData.ConnectionIntervalRange(minimum: 24, maximum: nil)
        let data = try read([.connectionIntervalRange(range)])
        #expect(data.connectionIntervalRange == range)
        #expect(data.encoded == [5, 0x12, 24, 0, 0xFF, 0xFF])
    }

    @Test("GAP/ADV/BV-09: solicited services are written and read")
    func readsSolicitedServices() throws {
        let data = try read([
            .solicitedServices([0x1805], width: .bits16),
            .solicitedServices([BluetoothUUID(bits32: 0x1234_5678)], width: .bits32),
        ])
        #expect(data.solicitedServiceUUIDs == [0x1805, BluetoothUUID(bits32: 0x1234_5678)])
        #expect(try read([.solicitedServices([Self.long], width: .bits128)]).solicitedServiceUUIDs == [Self.long])
    }

    @Test("GAP/ADV/BV-10: service data are written and read")
    func readsServiceData() throws {
        let services: [BluetoothUUID] = [0x180F, BluetoothUUID(bits32: 0x1234_5678)]
        let data = try read(services.map { .serviceData($0, [64]) })
        #expect(data.serviceData.map(\.service) == services)
        #expect(data.serviceData.allSatisfy { $0.data == [64] })
        #expect(try read([.serviceData(Self.long, [64])]).serviceData.map(\.service) == [Self.long])
    }

    @Test("GAP/ADV/BV-11: an appearance is written and read")
    func readsAnAppearance() throws {
        #expect(try read([.appearance(0x0341)]).appearance == 0x0341)
    }

    @Test("GAP/ADV/BV-12: public target addresses are written and read")
    func readsPublicTargetAddresses() throws {
        let targets = [1, 2].map { BluetoothAddress($0, kind: .publicDevice) }
        let data = try read([AdvertisingStructure(.publicTargetAddress, [1, 0, 0, 0, 0, 0, 2, 0, 0, 0, 0, 0])])
        #expect(data.targetAddresses == targets)
    }

    @Test("GAP/ADV/BV-13: random target addresses are written and read")
    func readsRandomTargetAddresses() throws {
        let targets = [BluetoothAddress(0xC0_0000_0000_0A, kind: .randomDevice)]
        let data = try read([AdvertisingStructure(.randomTargetAddress, [0x0A, 0, 0, 0, 0, 0xC0])])
        #expect(data.targetAddresses == targets)
    }

    @Test("GAP/ADV/BV-14: an advertising interval is written and read")
    func readsAnAdvertisingInterval() throws {
        let data = try read([.advertisingInterval(0x0640)])
        #expect(data.advertisingInterval == 0x0640)
        #expect(data.encoded == [3, 0x1A, 0x40, 0x06])
    }

    @Test(
        "GAP/ADV/BV-17: a URI is written and read",
        arguments: [
            ("https://example.org/", [0x17]), ("HTTP://example.org", [0x16]), ("bl:a", [0xC2, 0xBC]),
            ("unknown-scheme:a", [0x01]), ("no scheme", [0x01]),
        ] as [(String, [UInt8])]
    )
    func readsAURI(uri: String, begin: [UInt8]) throws {
        let data = try read([.uri(uri)])
        #expect(data.uri == uri.replacing("HTTP:", with: "http:"))
        #expect(data.structures.first?.payload.starts(with: begin) == true)
    }

    @Test(
        "GAP/ADV/BV-18: a long advertising interval is written and read",
        arguments: [(0x01_0000, 3), (0xFF_FFFF, 3), (0x100_0000, 4)] as [(UInt32, Int)]
    )
    func readsALongAdvertisingInterval(interval: UInt32, octets: Int) throws {
        let data = try read([.advertisingInterval(interval)])
        #expect(data.advertisingInterval == interval)
        #expect(data.structures.first?.type == .longAdvertisingInterval)
        #expect(data.structures.first?.payload.count == octets)
    }

    @Test("GAP/ADV/BV-19: the supported features are written and read")
    func readsSupportedFeatures() throws {
        let features: UInt64 = 0x1_0000_01FF
        let data = try read([.supportedFeatures(features)])
        #expect(data.supportedFeatures == features)
        #expect(data.encoded == [6, 0x27, 0xFF, 0x01, 0x00, 0x00, 0x01])
    }
}
