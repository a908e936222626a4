import BluetoothTypes
import EventLoops
import HCI
import Testing

@testable import LinkLayer

@Suite struct ExtendedAdvertisingTests {
    /// Returns a function that reads the frames of one node, decoded as PDUs.
    private func frames(_ world: LinkLayerWorld, of host: TestHost) -> () -> [(SniffedFrame, AdvertisingPDU)] {
        let log = FrameLog()
        world.sniff { if $0.sender == host.controller.node.id { log.frames.append($0) } }
        return {
            log.frames.compactMap { frame in
                (try? AdvertisingPDU(reading: PacketBuffer(frame.frame.pdu))).map { (frame, $0) }
            }
        }
    }

    // Core Vol 6 Part B 4.4.2.2: ADV_EXT_IND on each primary channel, all pointing to the same AUX_ADV_IND.
    @Test(arguments: [
        (LEPHY.le1M, LEPHY.le1M), (.le1M, .le2M), (.le1M, .coded), (.coded, .le1M), (.coded, .le2M), (.coded, .coded),
    ])
    func thePointerIsExact(primary: LEPHY, secondary: LEPHY) throws {
        let world = LinkLayerWorld()
        let host = world.host()
        let sent = frames(world, of: host)
        host.advertiseExtended(data: [2, 1, 6]) { ($0.primaryPHY, $0.secondaryPHY) = (primary, secondary) }
        world.run(.milliseconds(15))
        let all = sent()
        #expect(all.map(\.0.frame.channel).prefix(3) == [37, 38, 39])
        try #require(all.count == 4)
        let auxiliary = all[3].0
        #expect(auxiliary.frame.phy == secondary.radioPHY)
        for (frame, pdu) in all.prefix(3) {
            guard case .extended(let body) = pdu else { throw PacketError(.value(0), at: "PDU") }
            let pointer = try #require(body.extended.pointer)
            #expect(frame.frame.phy == primary.radioPHY)
            #expect(pointer.channel == auxiliary.frame.channel)
            #expect(pointer.phy == secondary)
            #expect(pointer.offset == (auxiliary.start - frame.start).microseconds)
            // T_MAFS (4.1.2).
            #expect(pointer.offset >= frame.frame.airTimeMicroseconds + 300)
            #expect(body.extended.info?.set == 3)
        }
    }

    @Test(arguments: [0, 1, 191, 244, 245, 248, 249, 500, 1_650])
    func dataOfEveryLengthArrive(length: Int) throws {
        let world = LinkLayerWorld()
        let (advertiser, scanner) = (world.host(), world.host(at: 10))
        advertiser.advertiseExtended(data: sampleData(length))
        scanner.scanExtended()
        world.run(.seconds(1))
        let report = try #require(scanner.wholeReports.first)
        #expect(report.data == sampleData(length))
        #expect(report.kind == [])
        #expect(report.address == advertiser.address)
        #expect(report.primaryPHY == .le1M)
        #expect(report.secondaryPHY == .le1M)
        #expect(report.sid == 3)
        #expect(report.txPower == 127)
        #expect(report.rssi == -60)
        #expect(scanner.wholeReports.allSatisfy { $0.kind.dataStatus == .complete })
        #expect(scanner.wholeReports.count > 20)
        #expect(scanner.reports.allSatisfy { $0.data.count <= 229 })
    }

    @Test(arguments: [LEPHY.le1M, .coded], [LEPHY.le1M, .le2M, .coded])
    func everyPHYIsHeard(primary: LEPHY, secondary: LEPHY) throws {
        let (world, advertiser, scanner) = LinkLayerWorld.withTwoHosts()
        advertiser.advertiseExtended(data: sampleData(600)) {
            ($0.primaryPHY, $0.secondaryPHY) = (primary, secondary)
        }
        scanner.scanExtended(phys: [.le1M, .coded], interval: 0x40, window: 0x20)
        world.run(.seconds(5))
        let report = try #require(scanner.wholeReports.first)
        #expect(report.data == sampleData(600))
        #expect(report.primaryPHY == primary)
        #expect(report.secondaryPHY == secondary)
    }

    @Test(arguments: [LEPHY.le1M, .coded], [LEPHY.le1M, .le2M, .coded])
    func connectingOnEveryPHY(primary: LEPHY, secondary: LEPHY) throws {
        let (world, peripheral, central) = LinkLayerWorld.withTwoHosts()
        peripheral.advertiseExtended(.connectable, data: [2, 1, 6]) {
            ($0.primaryPHY, $0.secondaryPHY) = (primary, secondary)
        }
        central.connectExtended(to: peripheral.address, phys: [.le1M, .le2M, .coded])
        world.run(.seconds(3))
        let mine = try #require(central.connections.first)
        let theirs = try #require(peripheral.connections.first)
        #expect(mine.status == .success)
        #expect(theirs.status == .success)
        #expect(central.events(LEChannelSelectionAlgorithm.self).map(\.algorithm) == [.algorithm2])
        let phy = try central.read(LEReadPHY(handle: mine.handle))
        #expect(phy.txPHY == secondary)
        #expect(phy.rxPHY == secondary)
        let ended = try #require(peripheral.events(LEAdvertisingSetTerminated.self).first)
        #expect(ended.status == .success)
        #expect(ended.set == 0)
        #expect(ended.handle == theirs.handle)
        central.send([1, 2, 3], on: mine.handle)
        peripheral.send([4, 5], on: theirs.handle)
        world.run(.seconds(1))
        #expect(peripheral.data.map(\.payload) == [[1, 2, 3]])
        #expect(central.data.map(\.payload) == [[4, 5]])
        #expect(central.events(DisconnectionComplete.self).isEmpty)
    }

    @Test(arguments: [1, 254, 1_650])
    func aScannableSetIsAsked(length: Int) throws {
        let (world, advertiser, scanner) = LinkLayerWorld.withTwoHosts()
        advertiser.advertiseExtended(.scannable, scanResponse: sampleData(length)) { $0.notifiesScanRequests = true }
        scanner.scanExtended(.active)
        world.run(.seconds(1))
        let reports = scanner.wholeReports
        #expect(reports.filter { $0.kind == .scannable }.allSatisfy { $0.data.isEmpty })
        let responses = reports.filter { $0.kind == [.scannable, .scanResponse] }
        #expect(responses.count > 20)
        #expect(responses.allSatisfy { $0.data == sampleData(length) && $0.sid == 3 })
        #expect(advertiser.events(LEScanRequestReceived.self).count >= responses.count)
        #expect(advertiser.events(LEScanRequestReceived.self).first?.scannerAddress == scanner.address)
    }
}

/// Frames that a sniffer captured.
final class FrameLog {
    var frames: [SniffedFrame] = []
}
