import BluetoothTypes
import Foundation
import GAP
import ServiceMessages
import Testing

@testable import BluetoothService

@Suite struct ScanSubscriptionTests {
    private static let peer = UUID(uuid: (1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0))

    private func sighting(
        _ structures: [AdvertisingStructure],
        hasScanResponse: Bool = false,
        rssi: Int = -50
    ) -> ReceivedAdvertisement {
        ReceivedAdvertisement(
            Sighting(
                address: BluetoothAddress(1, kind: .publicDevice),
                data: AdvertisingData(structures),
                isConnectable: true,
                hasScanResponse: hasScanResponse,
                rssi: rssi
            )
        )
    }

    private func services(_ uuids: BluetoothUUID...) -> AdvertisingStructure {
        .services(uuids, width: .bits16, isComplete: true)
    }

    @Test("behaviour 2.2: a scan reports a peripheral once")
    func onePeripheralIsReportedOnce() {
        var scan = ScanSubscription(ScanRequest())
        #expect(scan.report(sighting([services(0x180D)]), of: Self.peer) != nil)
        #expect(scan.report(sighting([services(0x180D)]), of: Self.peer) == nil)
        #expect(scan.report(sighting([services(0x180D)]), of: UUID()) != nil)
    }

    @Test("behaviour 2.3: a scan that allows duplicates reports every packet")
    func duplicatesAreAllReported() {
        var scan = ScanSubscription(ScanRequest(allowsDuplicates: true))
        for _ in 0..<3 { #expect(scan.report(sighting([]), of: Self.peer) != nil) }
    }

    @Test(
        "behaviour 2.4: one matching service of the list is enough",
        arguments: [
            (nil, true), ([], true), ([0x180D], true), ([0x180F], true), ([0x1805], false), ([0x1805, 0x180F], true),
        ] as [([BluetoothUUID]?, Bool)]
    )
    func anyListedServiceIsEnough(filter: [BluetoothUUID]?, isReported: Bool) {
        var scan = ScanSubscription(ScanRequest(services: filter))
        #expect((scan.report(sighting([services(0x180D, 0x180F)]), of: Self.peer) != nil) == isReported)
    }

    @Test("behaviour 2.8: peripherals that solicit a service are reported on request")
    func solicitingPeripheralsAreReportedOnRequest() {
        let seeker = sighting([.solicitedServices([0x1805], width: .bits16)])
        var scan = ScanSubscription(ScanRequest(services: [0x180D], solicitedServices: [0x1805]))
        #expect(scan.report(seeker, of: Self.peer)?.solicitedServiceUUIDs == [0x1805])
        var plain = ScanSubscription(ScanRequest(services: [0x1805]))
        #expect(plain.report(seeker, of: Self.peer) == nil)
    }

    @Test("behaviour 2.9: fields that an advertisement lacks are absent from the report")
    func fieldsThatAreNotThereAreAbsent() throws {
        var scan = ScanSubscription(ScanRequest(allowsDuplicates: true))
        let empty = scan.report(sighting([]), of: Self.peer)
        var nothing = ServiceMessages.Advertisement()
        nothing.isConnectable = true
        #expect(empty == nothing)
        let everything = scan.report(
            sighting([
                .localName(.init("Name")), .txPowerLevel(4), .serviceData(0x180F, [9]), services(0x180D),
                .manufacturerData(CompanyIdentifier(rawValue: 0x0059), [7]),
            ]),
            of: Self.peer
        )
        let full = try #require(everything)
        #expect(full.localName == "Name")
        #expect(full.txPowerLevel == 4)
        #expect(full.serviceData == [0x180F: [9]])
        #expect(full.manufacturerData == [0x59, 0x00, 0x07])
        #expect(full.serviceUUIDs == [0x180D])
    }

    @Test("behaviour 2.15: a peripheral is reported once more with its scan response")
    func theScanResponseIsReportedOnceMore() {
        var scan = ScanSubscription(ScanRequest())
        let advertisement = sighting([services(0x180D)])
        let merged = sighting([services(0x180D), .localName(.init("Strap"))], hasScanResponse: true)
        #expect(scan.report(advertisement, of: Self.peer)?.localName == nil)
        #expect(scan.report(merged, of: Self.peer)?.localName == "Strap")
        #expect(scan.report(merged, of: Self.peer) == nil)
        #expect(scan.report(advertisement, of: Self.peer) == nil)
    }

    @Test("behaviour 2.16: the filter also matches a service in the scan response")
    func aServiceInTheScanResponseMatches() {
        var scan = ScanSubscription(ScanRequest(services: [0x180D]))
        #expect(scan.report(sighting([]), of: Self.peer) == nil)
        #expect(scan.report(sighting([services(0x180D)], hasScanResponse: true), of: Self.peer) != nil)
    }

    @Test("behaviour 2.34: the overflow area only matches scans for its services")
    func theOverflowAreaAnswersOnlyWhenAsked() throws {
        let hidden = sighting([OverflowArea([0x1001]).structure])
        var all = ScanSubscription(ScanRequest())
        let unasked = all.report(hidden, of: Self.peer)
        let seen = try #require(unasked)
        #expect(seen.overflowServiceUUIDs.isEmpty)
        #expect(seen.manufacturerData == nil)
        var asking = ScanSubscription(ScanRequest(services: [0x1001, 0x3333, 0x180D]))
        let asked = asking.report(hidden, of: Self.peer)
        let answer = try #require(asked)
        #expect(answer.overflowServiceUUIDs == [0x1001, 0x3333])
        #expect(answer.serviceUUIDs.isEmpty)
    }

    @Test("behaviour 2.29: beacons are reported without manufacturer data")
    func beaconsShowNoManufacturerData() {
        var scan = ScanSubscription(ScanRequest())
        let beacon = sighting([
            .manufacturerData(.apple, PacketBuffer([0x02, 0x15] + [UInt8](repeating: 3, count: 21)))
        ])
        #expect(scan.report(beacon, of: Self.peer)?.manufacturerData == nil)
        // Data as long as an overflow area or a beacon but of other types, and a beacon's octets from another company.
        for octets in [[0x10] + [UInt8](repeating: 3, count: 16), [0x02, 0x14] + [UInt8](repeating: 3, count: 21)] {
            let other = sighting([.manufacturerData(.apple, PacketBuffer(octets))])
            #expect(scan.report(other, of: UUID())?.manufacturerData == PacketBuffer([0x4C, 0x00] + octets))
        }
        let company = CompanyIdentifier(rawValue: 0x014C)
        let others = sighting([.manufacturerData(company, [0x02, 0x15, 9])])
        #expect(scan.report(others, of: UUID())?.manufacturerData == [0x4C, 0x01, 0x02, 0x15, 9])
    }

    @Test("behaviour 2.34: a service that is both listed and hinted at counts as listed")
    func aServiceThatIsNamedAndHintedAt() throws {
        let both = sighting([services(0x1001), OverflowArea([0x1001]).structure])
        var asking = ScanSubscription(ScanRequest(services: [0x1001, 0x3333]))
        let asked = asking.report(both, of: Self.peer)
        let answer = try #require(asked)
        #expect(answer.serviceUUIDs == [0x1001])
        #expect(answer.overflowServiceUUIDs == [0x3333])
    }

    @Test("AB-G02: the reported devices that a scan remembers are bounded")
    func rememberedDevicesAreBounded() {
        var scan = ScanSubscription(ScanRequest())
        let first = UUID()
        #expect(scan.report(sighting([]), of: first) != nil)
        #expect(scan.report(sighting([]), of: first) == nil)
        for _ in 1..<ScanSubscription.maximumReported { _ = scan.report(sighting([]), of: UUID()) }
        #expect(scan.report(sighting([]), of: first) == nil)
        // One more than the table holds: the oldest are forgotten, and the most recent stay.
        #expect(scan.report(sighting([]), of: Self.peer) != nil)
        #expect(scan.report(sighting([]), of: first) != nil)
        #expect(scan.report(sighting([]), of: Self.peer) == nil)
        #expect(scan.counts.remembered == ScanSubscription.maximumReported)
        #expect(scan.counts.forgotten == 2)
    }

    @Test("AB-G02, behaviour 2.2: a device that comes and goes often makes a scan forget no other device")
    func oneThatComesAndGoes() {
        var scan = ScanSubscription(ScanRequest())
        let other = UUID()
        #expect(scan.report(sighting([]), of: other) != nil)
        for _ in 0...ScanSubscription.maximumReported {
            #expect(scan.report(sighting([]), of: Self.peer) != nil)
            scan.forget(Self.peer)
        }
        #expect(scan.report(sighting([]), of: Self.peer) != nil)
        #expect(scan.report(sighting([]), of: other) == nil)
        #expect(scan.report(sighting([]), of: Self.peer) == nil)
        #expect(scan.counts.remembered == 2)
        #expect(scan.counts.forgotten == 0)
    }
}
