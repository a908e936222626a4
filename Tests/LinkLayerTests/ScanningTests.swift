import BluetoothTypes
import EventLoops
import HCI
import Testing

@testable import LinkLayer

@Suite struct ScanningTests {
    @Test func anActiveScannerGetsScanResponses() {
        let (world, advertiser, scanner) = LinkLayerWorld.withTwoHosts()
        advertiser.send(LESetAdvertisingData(data: [2, 1, 6]))
        advertiser.send(LESetScanResponseData(data: [3, 9, 65, 66]))
        advertiser.advertise()
        scanner.scan(.active)
        world.run(.seconds(1))
        let reports = scanner.events(LEAdvertisingReport.self).flatMap(\.reports)
        #expect(Set(reports.filter { $0.kind == .scanResponse }.map(\.data)) == [[3, 9, 65, 66]])
        #expect(Set(reports.filter { $0.kind == .connectableScannable }.map(\.data)) == [[2, 1, 6]])
    }

    // ADV_IND + IFS + SCAN_REQ + IFS + SCAN_RSP: 1,228 us with 31 octets each.
    @Test func anExchangeTakesItsTime() {
        let (world, advertiser, scanner) = LinkLayerWorld.withTwoHosts()
        let data = PacketBuffer([UInt8](repeating: 1, count: 31))
        advertiser.send(LESetAdvertisingData(data: data))
        advertiser.send(LESetScanResponseData(data: data))
        var frames: [SniffedFrame] = []
        world.sniff { frames.append($0) }
        scanner.scan(.active)
        advertiser.advertise()
        world.run(.milliseconds(5))
        let exchange = frames.prefix(3)
        #expect(exchange.map { $0.frame.pdu[0] & 0xF } == [0, 3, 4])
        let starts: [Int64] = [0, 526, 852]
        #expect(exchange.map(\.start.microseconds) == starts)
        #expect(exchange.last.map { $0.start.microseconds + $0.frame.airTimeMicroseconds } == 1_228)
    }

    @Test func duplicatesAreLeftOut() {
        let (world, advertiser, scanner) = LinkLayerWorld.withTwoHosts()
        advertiser.advertise()
        scanner.scan(.active, filterDuplicates: true)
        world.run(.seconds(10))
        #expect(scanner.events(LEAdvertisingReport.self).count == 2)
        // Enabling it again clears the duplicate filter.
        scanner.scan(.active, filterDuplicates: true)
        scanner.send(LESetScanEnable(isEnabled: true, filterDuplicates: .enabled))
        world.run(.seconds(10))
        #expect(scanner.events(LEAdvertisingReport.self).count == 4)
    }

    @Test func theDuplicateFilterIsBounded() {
        var filter = DuplicateFilter()
        for number in 0..<UInt64(10_000) {
            let isNew = filter.isNew(BluetoothAddress(number, kind: .publicDevice), .connectableScannable)
            #expect(isNew)
        }
        let (last, first) = (BluetoothAddress(9_999, kind: .publicDevice), BluetoothAddress(0, kind: .publicDevice))
        let isLastNew = filter.isNew(last, .connectableScannable)
        let isFirstNew = filter.isNew(first, .connectableScannable)
        #expect(!isLastNew)
        #expect(isFirstNew)
    }

    @Test func theScannerRotatesItsChannels() {
        let world = LinkLayerWorld()
        let scanner = world.host()
        scanner.scan()
        var channels: [UInt8] = []
        for _ in 0..<4 {
            channels.append(scanner.controller.scanner.channel)
            world.run(.milliseconds(10))
        }
        #expect(channels == [37, 38, 39, 37])
    }

    @Test(arguments: [(0x10, 0x10, 1.0), (0x20, 0x10, 0.5), (0xA0, 0x10, 0.1)] as [(UInt16, UInt16, Double)])
    func theDutyCycleIsKept(interval: UInt16, window: UInt16, part: Double) {
        let world = LinkLayerWorld()
        let scanner = world.host()
        scanner.send(
            LESetScanParameters {
                $0.kind = .passive
                $0.scanInterval = interval
                $0.scanWindow = window
                $0.ownAddressKind = .publicDevice
                $0.filterPolicy = .unfiltered
            }
        )
        scanner.send(LESetScanEnable(isEnabled: true, filterDuplicates: .disabled))
        world.run(.seconds(10))
        let listening = Double(scanner.controller.node.airTime.listening) / 10_000_000
        #expect(abs(listening - part) < 0.01)
    }

    @Test func theAcceptListFilters() {
        let world = LinkLayerWorld()
        let (wanted, other, scanner) = (world.host(), world.host(at: 1), world.host(at: 2))
        wanted.advertise()
        other.advertise()
        scanner.send(LEAddDeviceToFilterAcceptList(address: wanted.address))
        scanner.send(
            LESetScanParameters {
                $0.kind = .passive
                $0.scanInterval = 0x10
                $0.scanWindow = 0x10
                $0.ownAddressKind = .publicDevice
                $0.filterPolicy = .acceptListOnly
            }
        )
        scanner.send(LESetScanEnable(isEnabled: true, filterDuplicates: .disabled))
        world.run(.seconds(1))
        let addresses = Set(scanner.events(LEAdvertisingReport.self).flatMap(\.reports).map(\.address))
        #expect(addresses == [wanted.address])
    }

    // Unanswered requests make a scanner send fewer and fewer requests, answered ones more (Core Vol 6 Part B 4.4.3.2).
    @Test func backoff() {
        var backoff = ScanBackoff()
        let random = RandomSource(seed: 1)
        func asks(of count: Int, answered: Bool) -> Int {
            (0..<count).count { _ in
                let asks = backoff.mayRequest()
                if asks { backoff.requested(answered: answered, random) }
                return asks
            }
        }
        #expect(asks(of: 10, answered: true) == 10)
        #expect((10..<40).contains(asks(of: 1_000, answered: false)))
        #expect(asks(of: 10_000, answered: true) > 9_000)
    }
}
