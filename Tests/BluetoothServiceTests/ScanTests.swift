import BluetoothTypes
import EventLoops
import Foundation
import GAP
import HCI
import SampleMessages
import ServiceMessages
import Testing

@testable import BluetoothService

@Suite struct ScanTests {
    @Test("behaviour 2.15: a new device is reported twice, and then no more")
    func aNewDeviceIsReportedTwiceAndThenNoMore() throws {
        let world = ServiceWorld()
        let central = world.device("Phone").manager(.central)
        let sensor = world.device("Strap").manager(.peripheral)
        // The services fill the advertisement, so the name moves into the scan response.
        let services = (0..<13).map { BluetoothUUID(0x1810 + UInt16($0)) }
        let request = AdvertisingRequest(localName: "Strap", services: services)
        _ = try sensor.ask(.startAdvertising(request), "started", \.advertisingStarted)
        central.send(.startScan(ScanRequest()))
        world.run(.seconds(10))
        let found = central.take().compactMap(\.discovery)
        #expect(found.map(\.advertisement.localName) == [nil, "Strap"])
        #expect(found.map(\.peer.name) == [nil, "Strap"])
        #expect(found.allSatisfy { $0.advertisement.serviceUUIDs == services && $0.advertisement.isConnectable })
        #expect(found.first?.rssi == -50)
    }

    @Test("behaviour 2.14: scans are active and request scan responses", arguments: [true, false])
    func scansAreActive(hasExtendedAdvertising: Bool) throws {
        let air = RadioWorld(hasExtendedAdvertising: hasExtendedAdvertising)
        let sensor = air.world.manager(.peripheral, on: air.system("Strap"))
        let services = (0..<13).map { BluetoothUUID(0x1810 + UInt16($0)) }
        let request = AdvertisingRequest(localName: "Strap", services: services)
        _ = try sensor.ask(.startAdvertising(request), "started", \.advertisingStarted)
        let central = air.world.manager(.central, on: air.system("Phone"))
        central.send(.startScan(ScanRequest(services: [services[12]])))
        air.world.run(.seconds(5))
        #expect(central.take().compactMap(\.discovery).last?.advertisement.localName == "Strap")
    }

    @Test("behaviour 2.11: a discovery has a wall-clock time", arguments: [nil, 1_000_000] as [Double?])
    func advertisementsHaveTheirTime(start: Double?) throws {
        let world = ServiceWorld()
        let central = world.device("Phone", configure: { $0.loopStart = start }).manager(.central)
        let sensor = world.device("Strap").manager(.peripheral)
        try sensor.publish()
        world.run(.seconds(10))
        let heard = try central.ask(.startScan(ScanRequest()), "discovered", \.discovery).advertisement
        let time = world.loop.now.nanoseconds
        #expect(heard.timestamp.map { abs($0 - 1_000_000 - Double(time) / 1e9) < 0.1 } ?? (start == nil))
        #expect(heard.primaryPHY == 1)
        #expect(heard.secondaryPHY == 0)
        sensor.close()
    }

    @Test("behaviour 2.3: with duplicates allowed every packet is reported")
    func withDuplicatesEveryPacketIsReported() throws {
        let pair = try ConnectedPair()
        pair.central.send(.startScan(ScanRequest(allowsDuplicates: true)))
        pair.world.run(.seconds(1))
        // An advertisement and a scan response every 20 ms.
        #expect(pair.central.take().count >= 90)
    }

    @Test("behaviour 2.6: repeating a scan changes nothing, and another scan replaces it")
    func theSameScanAgainChangesNothingAndAnotherReplacesIt() throws {
        let pair = try ConnectedPair()
        pair.central.send(.startScan(ScanRequest()))
        pair.world.run(.seconds(1))
        #expect(pair.central.take().count == 1)
        pair.central.send(.startScan(ScanRequest()))
        pair.world.run(.seconds(1))
        #expect(pair.central.take().isEmpty)
        pair.central.send(.startScan(ScanRequest(services: [0x1805])))
        pair.world.run(.seconds(1))
        #expect(pair.central.take().isEmpty)
        pair.central.send(.startScan(ScanRequest(services: [0x1805, Example.service])))
        pair.world.run(.seconds(1))
        #expect(pair.central.take().count == 1)
    }

    @Test("behaviour 2.17: restarting a scan reports everything again")
    func stopAndStartBeginsAfresh() throws {
        let pair = try ConnectedPair()
        for _ in 0..<3 {
            pair.central.send(.startScan(ScanRequest()))
            pair.world.run(.seconds(1))
            #expect(pair.central.take().count == 1)
            pair.central.send(.stopScan)
            pair.world.run(.seconds(1))
            #expect(!pair.phone.controller.isScanning)
        }
    }

    @Test("behaviour 9.11: the scans of apps are merged, and each app gets its own matches")
    func scansAreMergedAndEachGetsItsMatches() throws {
        let pair = try ConnectedPair()
        let others = [pair.phone.manager(.central), pair.phone.manager(.central)]
        pair.central.send(.startScan(ScanRequest()))
        others[0].send(.startScan(ScanRequest(services: [0x1805])))
        others[1].send(.startScan(ScanRequest(services: [Example.service])))
        pair.world.run(.seconds(1))
        #expect(pair.central.take().compactMap(\.discovery).count == 1)
        #expect(others[0].take().compactMap(\.discovery).isEmpty)
        #expect(others[1].take().compactMap(\.discovery).count == 1)
        #expect(pair.phone.controller.commands.filter { $0 == "LE Set Scan Enable" }.count == 3)
        pair.central.send(.stopScan)
        others[0].send(.stopScan)
        pair.world.run(.seconds(1))
        #expect(pair.phone.controller.isScanning)
        others[1].close()
        pair.world.run(.seconds(1))
        #expect(!pair.phone.controller.isScanning)
    }

    @Test("behaviour 2.1: a scan continues until it is stopped")
    func aScanHasNoEnd() throws {
        let pair = try ConnectedPair()
        pair.strap.controller.isInRange = false
        pair.central.send(.startScan(ScanRequest()))
        pair.world.run(.seconds(3_600))
        pair.strap.controller.isInRange = true
        _ = try pair.central.expect("discovered", \.discovery)
    }

    /// Apps get the extended advertisements that an iPhone delivers: on 2M, up to 124 octets, and with an address.
    @Test(
        "behaviours 2.26, 14.10: apps get the extended advertisements that an iPhone reports",
        arguments: [
            (.le2M, 122, false, true), (.le2M, 123, false, false), (.le1M, 20, false, false), (.le2M, 20, true, false),
        ] as [(LEPHY, Int, Bool, Bool)]
    )
    func whichExtendedAdvertisementsAreShown(phy: LEPHY, length: Int, isAnonymous: Bool, isShown: Bool) throws {
        let air = RadioWorld()
        let central = air.world.manager(.central, on: air.system("Phone"))
        central.send(.startScan(ScanRequest(allowsDuplicates: true)))
        // The header adds two octets.
        let payload = PacketBuffer([UInt8](repeating: 9, count: length - 2))
        let data = AdvertisingData([.manufacturerData(CompanyIdentifier(rawValue: 0x0059), payload)])
        try #require(data.encodedLength == length + 2)
        var advertisement = AdvertisingConfiguration(.nonConnectable, data: data)
        var packets = AdvertisingConfiguration.ExtendedPackets()
        (packets.secondaryPHY, packets.isAnonymous) = (phy, isAnonymous)
        advertisement.packets = .extended(packets)
        let sender = air.bareDevice()
        let broadcaster = sender.advertiser.addSet()
        broadcaster.onFailed = { Issue.record("the broadcast failed: \($0)") }
        broadcaster.want(advertisement)
        air.world.run(.seconds(5))
        let found = central.take().compactMap(\.discovery)
        #expect(found.isEmpty == !isShown)
        #expect(found.allSatisfy { $0.advertisement.manufacturerData?.count == length })
        // Legacy advertisements are delivered on any PHY.
        broadcaster.want(AdvertisingConfiguration(.nonConnectable, data: AdvertisingData([.localName(.init("Old"))])))
        air.world.run(.seconds(5))
        #expect(central.take().compactMap(\.discovery).contains { $0.advertisement.localName == "Old" })
    }

    @Test("AB-G02: a flood of addresses does not evict connected peers")
    func aCrowdOfAddressesDoesNotDisplaceWhoIsConnected() throws {
        let pair = try ConnectedPair().linked()
        pair.central.send(.startScan(ScanRequest()))
        pair.world.run(.seconds(1))
        for batch in 0..<100 {
            for index in 0..<200 {
                pair.phone.controller.report(from: BluetoothAddress(UInt64(batch * 200 + index), kind: .randomDevice))
            }
            pair.world.run(.milliseconds(1))
            pair.central.take()
        }
        // Connected peers do not count towards the limit.
        #expect(pair.phone.system.peers.count <= PeerTable.maximumPeers + 1)
        #expect(pair.central.ask(.peripherals(identifiers: [pair.peer])).map(\.identifier) == [pair.peer])
        #expect(try pair.central.explore(pair.peer).count == 4)
    }
}
