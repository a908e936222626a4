import BluetoothTypes
import EventLoops
import Foundation
import Testing

@testable import BluetoothService

@Suite struct ScanTests {
    @Test func behaviour_2_15_aNewDeviceIsReportedTwiceAndThenNoMore() throws {
        let world = TestWorld()
        let central = world.device("Phone").manager(.central)
        let sensor = world.device("Strap").manager(.peripheral)
        // The services fill the advertisement, so that the name goes into the scan response.
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

    @Test func behaviour_2_3_withDuplicatesEveryPacketIsReported() throws {
        let pair = try Pair()
        pair.central.send(.startScan(ScanRequest(allowsDuplicates: true)))
        pair.world.run(.seconds(1))
        // Every 20 ms an advertisement and a scan response.
        #expect(pair.central.take().count >= 90)
    }

    @Test func behaviour_2_6_theSameScanAgainChangesNothingAndAnotherReplacesIt() throws {
        let pair = try Pair()
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

    @Test func behaviour_2_17_stopAndStartBeginsAfresh() throws {
        let pair = try Pair()
        for _ in 0..<3 {
            pair.central.send(.startScan(ScanRequest()))
            pair.world.run(.seconds(1))
            #expect(pair.central.take().count == 1)
            pair.central.send(.stopScan)
            pair.world.run(.seconds(1))
            #expect(!pair.phone.controller.isScanning)
        }
    }

    @Test func behaviour_9_11_scansAreMergedAndEachGetsItsMatches() throws {
        let pair = try Pair()
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

    @Test func behaviour_2_1_aScanHasNoEnd() throws {
        let pair = try Pair()
        pair.strap.controller.isInRange = false
        pair.central.send(.startScan(ScanRequest()))
        pair.world.run(.seconds(3_600))
        pair.strap.controller.isInRange = true
        _ = try pair.central.expect("discovered", \.discovery)
    }

    @Test func AB_G02_aCrowdOfAddressesDoesNotDisplaceWhoIsConnected() throws {
        let pair = try Pair()
        try pair.central.connect(pair.peer)
        pair.central.send(.startScan(ScanRequest()))
        pair.world.run(.seconds(1))
        for batch in 0..<100 {
            for index in 0..<200 {
                pair.phone.controller.report(from: BluetoothAddress(UInt64(batch * 200 + index), kind: .randomDevice))
            }
            pair.world.run(.milliseconds(1))
            pair.central.take()
        }
        // Whoever is connected comes on top.
        #expect(pair.phone.system.peers.count <= PeerTable.maximumPeers + 1)
        #expect(pair.central.ask(.peripherals(identifiers: [pair.peer])).map(\.identifier) == [pair.peer])
        #expect(try pair.central.explore(pair.peer).count == 4)
    }
}
