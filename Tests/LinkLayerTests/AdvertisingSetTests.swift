import BluetoothTypes
import EventLoops
import HCI
import Testing

@testable import LinkLayer

@Suite struct AdvertisingSetTests {
    @Test func sixteenSetsAtOnce() {
        let (world, advertiser, scanner) = LinkLayerWorld.withTwoHosts()
        for set in 0..<16 as Range<UInt8> {
            #expect(advertiser.prepare(set: set, data: [set]) { $0.sid = set } == .success)
        }
        #expect(advertiser.enable((0..<16).map { ($0, 0, 0) }) == .success)
        scanner.scanExtended()
        world.run(.seconds(2))
        let reports = scanner.wholeReports
        for set in 0..<16 as Range<UInt8> {
            #expect(reports.count { $0.sid == set && $0.data == [set] } > 30, "set \(set)")
        }
        #expect(advertiser.enable([], false) == .success)
        scanner.forget()
        world.run(.seconds(1))
        #expect(scanner.reports.isEmpty)
    }

    // Core Vol 4 Part E 7.8.56 and 7.7.65.18: Advertising Timeout 0x3C.
    @Test(
        arguments: [1, 50, 128] as [UInt16],
        [[], .legacy, [.legacy, .connectable, .scannable]] as [LEAdvertisingProperties]
    )
    func aDurationEnds(duration: UInt16, properties: LEAdvertisingProperties) throws {
        let world = LinkLayerWorld()
        let host = world.host()
        host.advertiseExtended(properties, set: 5, duration: duration)
        world.run(.seconds(5))
        let last = try #require(host.packets.last)
        #expect(last.at == Instant(microseconds: Int64(duration) * 10_000))
        let events = host.events(LEAdvertisingSetTerminated.self)
        try #require(events.count == 1)
        #expect(events[0].status == .advertisingTimeout && events[0].set == 5)
        #expect(events[0].completedEvents >= duration / 4)
    }

    // The set ends with Limit Reached, 0x43.
    @Test(arguments: [1, 7, 255] as [UInt8], [[], .legacy, .connectable, .anonymous] as [LEAdvertisingProperties])
    func aNumberOfEventsEnds(count: UInt8, properties: LEAdvertisingProperties) {
        let world = LinkLayerWorld()
        let host = world.host()
        var primary = 0
        world.sniff { if $0.frame.channel == 37 { primary += 1 } }
        host.advertiseExtended(properties, set: 1, maxEvents: count)
        world.run(.seconds(20))
        let none = ConnectionHandle(rawValue: 0)
        #expect(
            host.events(LEAdvertisingSetTerminated.self)
                == [.init(status: .limitReached, set: 1, handle: none, completedEvents: count)]
        )
        #expect(primary == Int(count))
        #expect(host.packets.count == host.packets.count { _ in true })
    }

    @Test func highDutyCycleEndsBySetTerminated() {
        let world = LinkLayerWorld()
        let host = world.host()
        var starts: [Int64] = []
        world.sniff { if $0.frame.channel == 37 { starts.append($0.start.microseconds) } }
        host.advertiseExtended([.legacy, .connectable, .directed, .highDutyCycle], duration: 128) {
            $0.peerAddress = BluetoothAddress(7, kind: .publicDevice)
        }
        world.run(.seconds(5))
        #expect(zip(starts, starts.dropFirst()).allSatisfy { $1 - $0 <= 3_750 })
        #expect(starts.count >= 267)
        #expect(host.events(LEAdvertisingSetTerminated.self).map(\.status) == [.advertisingTimeout])
    }

    // 7.8.56: enabling a set again restarts its duration and its event count.
    @Test func enablingAgainBeginsAnew() throws {
        let world = LinkLayerWorld()
        let host = world.host()
        host.advertiseExtended(duration: 100)
        world.run(.milliseconds(900))
        host.enable([(0, 100, 0)])
        world.run(.seconds(3))
        #expect(try #require(host.packets.last).at == Instant(microseconds: 1_900_000))
        #expect(host.events(LEAdvertisingSetTerminated.self).count == 1)
    }

    @Test(
        arguments: [
            ("ADV_IND", 0x13, 0x13, true), ("ADV_SCAN_IND", 0x12, 0x12, true), ("ADV_NONCONN_IND", 0x10, 0x10, false),
            ("ADV_DIRECT_IND", 0x15, 0x15, false),
        ] as [(String, UInt16, UInt16, Bool)]
    )
    func legacyPDUsOfASet(name: String, properties: UInt16, reported: UInt16, isScannable: Bool) throws {
        let (world, advertiser, scanner) = LinkLayerWorld.withTwoHosts()
        let hasData = properties != 0x15
        advertiser.advertiseExtended(
            .init(rawValue: properties),
            data: hasData ? [2, 1, 6] : [],
            scanResponse: isScannable ? [9] : []
        ) { $0.peerAddress = scanner.address }
        scanner.scanExtended(.active)
        world.run(.seconds(1))
        let report = try #require(scanner.reports.first)
        #expect(report.kind.rawValue == reported)
        #expect(report.data == (hasData ? [2, 1, 6] : []))
        #expect(report.sid == 0xFF)
        #expect(report.secondaryPHY == .none)
        #expect(report.primaryPHY == .le1M)
        #expect(report.txPower == 127)
        let responses = scanner.reports.filter { $0.kind.contains(.scanResponse) }
        #expect(responses.isEmpty == !isScannable)
        #expect(responses.allSatisfy { $0.kind.rawValue == reported | 8 && $0.data == [9] })
        if properties == 0x15 { #expect(report.directAddress == scanner.address) }
    }

    // A legacy scanner receives the legacy PDUs of an extended set, and nothing else of it.
    @Test(arguments: [true, false])
    func aLegacyScanner(isLegacy: Bool) {
        let (world, advertiser, scanner) = LinkLayerWorld.withTwoHosts()
        advertiser.advertiseExtended(isLegacy ? .legacy : [], data: [1])
        scanner.scan()
        world.run(.seconds(1))
        #expect(scanner.events(LEAdvertisingReport.self).isEmpty != isLegacy)
        #expect(scanner.reports.isEmpty)
    }

    @Test func eachSetHasAnAddressOfItsOwn() {
        let (world, advertiser, scanner) = LinkLayerWorld.withTwoHosts()
        let addresses = (0..<3).map { BluetoothAddress(0xC000_0000_0001 + $0, kind: .randomDevice) }
        for (set, address) in addresses.enumerated() {
            advertiser.prepare(set: UInt8(set)) { $0.ownAddressKind = .randomDevice }
            advertiser.send(LESetAdvertisingSetRandomAddress(set: UInt8(set), address: address))
        }
        advertiser.enable([(0, 0, 0), (1, 0, 0), (2, 0, 0)])
        scanner.scanExtended()
        world.run(.seconds(1))
        #expect(Set(scanner.reports.map(\.address)) == Set(addresses))
    }

    @Test func aNewAddressIsUsedAtOnce() {
        let (world, advertiser, scanner) = LinkLayerWorld.withTwoHosts()
        advertiser.prepare { $0.ownAddressKind = .randomDevice }
        let addresses = (0..<2).map { BluetoothAddress(0xC000_0000_0001 + $0, kind: .randomDevice) }
        advertiser.send(LESetAdvertisingSetRandomAddress(set: 0, address: addresses[0]))
        advertiser.enable([(0, 0, 0)])
        scanner.scanExtended()
        world.run(.seconds(1))
        advertiser.send(LESetAdvertisingSetRandomAddress(set: 0, address: addresses[1]))
        world.run(.milliseconds(50))
        scanner.forget()
        world.run(.seconds(1))
        #expect(Set(scanner.reports.map(\.address)) == [addresses[1]])
    }

    @Test(arguments: [(0x7F, 4), (0, 0), (-20, -20), (20, 4)] as [(Int8, Int8)])
    func theTransmitPowerIsChosen(asked: Int8, selected: Int8) throws {
        let world = LinkLayerWorld()
        let (advertiser, scanner) = (world.host { $0.transmitPower = 4 }, world.host(at: 1))
        let answer = try advertiser.read(
            LESetExtendedAdvertisingParameters.standard(0, .includeTxPower) { $0.txPower = asked }
        )
        #expect(answer.selectedTxPower == selected)
        advertiser.enable([(0, 0, 0)])
        scanner.scanExtended()
        world.run(.seconds(1))
        let report = try #require(scanner.reports.first)
        #expect(report.txPower == selected)
        #expect(report.rssi == selected - 40)
    }

    // Core Vol 6 Part B 4.4.2.11: new data get a new DID; operation 4 requests a new DID without changing the data.
    @Test func theDIDChangesWithTheData() {
        let world = LinkLayerWorld()
        let host = world.host()
        var identifiers: [UInt16] = []
        world.sniff { frame in
            guard frame.frame.channel == 37,
                case .extended(let pdu)? = try? AdvertisingPDU(reading: .init(frame.frame.pdu)),
                let info = pdu.extended.info
            else { return }
            if identifiers.last != info.data { identifiers.append(info.data) }
        }
        host.advertiseExtended(data: [1])
        world.run(.seconds(1))
        #expect(identifiers.count == 1)
        host.send(LESetExtendedAdvertisingData(set: 0, operation: .complete, fragmentPreference: 0, data: [2]))
        world.run(.seconds(1))
        #expect(identifiers.count == 2)
        host.send(LESetExtendedAdvertisingData(set: 0, operation: .unchanged, fragmentPreference: 0, data: []))
        world.run(.seconds(1))
        #expect(identifiers.count == 3)
    }

    @Test func theSecondaryChannelsAreSpread() {
        let world = LinkLayerWorld()
        let host = world.host()
        var channels: Set<UInt8> = []
        world.sniff { if $0.frame.channel < 37 { channels.insert($0.frame.channel) } }
        host.advertiseExtended()
        world.run(.seconds(20))
        #expect(channels.count == 37)
        // Host channel classification applies to secondary channels as well.
        host.send(LESetHostChannelClassification(channelMap: ChannelMap(bits: 0b1110).octets))
        world.run(.milliseconds(100))
        channels = []
        world.run(.seconds(5))
        #expect(channels == [1, 2, 3])
    }

    @Test func aResetTakesTheSetsAway() {
        let world = LinkLayerWorld()
        let host = world.host()
        host.advertiseExtended(duration: 100)
        host.send(Reset())
        host.forget()
        var frames = 0
        world.sniff { _ in frames += 1 }
        world.run(.seconds(2))
        #expect(frames == 0)
        #expect(host.packets.isEmpty)
        #expect(host.enable([(0, 0, 0)]) == .unknownAdvertisingIdentifier)
    }
}
