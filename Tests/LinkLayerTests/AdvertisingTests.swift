import BluetoothTypes
import EventLoops
import HCI
import Testing

@testable import LinkLayer

@Suite struct AdvertisingTests {
    @Test func eachEventGoesOverAllChannelsInOrder() {
        let world = LinkLayerWorld()
        let advertiser = world.host()
        var seen: [(UInt8, Int64)] = []
        world.sniff { seen.append(($0.frame.channel, $0.start.microseconds)) }
        advertiser.send(LESetAdvertisingData(data: [2, 1, 6]))
        advertiser.advertise(interval: 0xA0)
        world.run(.milliseconds(1_000))
        #expect(seen.prefix(6).map(\.0) == [37, 38, 39, 37, 38, 39])
        // The interval of 100 ms plus an advDelay of 0 to 10 ms (Core Vol 6 Part B 4.4.2.2.1), which differs each time.
        let starts = seen.filter { $0.0 == 37 }.map(\.1)
        let gaps = zip(starts, starts.dropFirst()).map { $1 - $0 }
        #expect(gaps.allSatisfy { (100_000..<110_000).contains($0) })
        #expect(Set(gaps).count == gaps.count)
    }

    // The next PDU follows 154 us of listening and 150 us of changing the channel. Only a frame that starts 2 us before
    // the end of the inter frame space, or later, may be a response and is received to its end (Core Vol 6 Part B
    // 4.2.1).
    @Test(arguments: [(10, 304), (147, 304), (148, 148 + 128 + 150), (153, 153 + 128 + 150)] as [(Int64, Int64)])
    func framesOfOthersAreReceivedOnlyInPlaceOfResponses(start: Int64, pause: Int64) {
        let world = LinkLayerWorld()
        let (advertiser, foreign) = (world.host(), ExtendedAttacker(world))
        var starts: [Int64] = []
        world.sniff { frame in
            guard frame.sender != foreign.node.id else { return }
            starts.append(frame.start.microseconds)
            let pdu = AdvertisingPDU.nonConnectable(UndirectedAdvertisement(advertiser: foreign.address, data: []))
            if starts.count == 1 { foreign.send(pdu.encoded(), channel: 37, after: 128 + start) }
        }
        advertiser.advertise()
        world.run(.milliseconds(5))
        #expect(zip(starts, starts.dropFirst()).map { $1 - $0 - 128 } == [pause, 304])
    }

    // Events per second: 1 / (interval + 5 ms).
    @Test(arguments: [(0x20, 40.0), (0xA0, 9.52), (0x800, 0.778)] as [(UInt16, Double)])
    func eventRate(interval: UInt16, rate: Double) {
        let world = LinkLayerWorld()
        let advertiser = world.host()
        var count = 0
        world.sniff { if $0.frame.channel == 37 { count += 1 } }
        advertiser.advertise(interval: interval)
        world.run(.seconds(1_000))
        #expect(abs(Double(count) / 1_000 / rate - 1) < 0.02)
    }

    @Test(arguments: [
        (LEAdvertisingKind.connectableScannable, LEAdvertisingReportKind.connectableScannable),
        (.scannable, .scannable),
        (.nonConnectable, .nonConnectable),
    ])
    func aScannerHears(kind: LEAdvertisingKind, reported: LEAdvertisingReportKind) throws {
        let world = LinkLayerWorld()
        let (advertiser, scanner) = (world.host(), world.host(at: 10))
        advertiser.send(LESetAdvertisingData(data: [2, 1, 6]))
        advertiser.advertise(kind)
        scanner.scan()
        world.run(.seconds(1))
        let report = try #require(scanner.events(LEAdvertisingReport.self).first?.reports.first)
        #expect(report == .init(kind: reported, address: advertiser.address, data: [2, 1, 6], rssi: -60))
    }

    @Test(arguments: [(LEAdvertisingKind.directedHighDutyCycle, 0), (.directedLowDutyCycle, 0)])
    func directedAdvertisingIsForOneDevice(kind: LEAdvertisingKind, others: Int) {
        let world = LinkLayerWorld()
        let (advertiser, wanted, other) = (world.host(), world.host(at: 1), world.host(at: 2))
        wanted.scan()
        other.scan()
        advertiser.advertise(kind, peer: wanted.address)
        world.run(.seconds(1))
        #expect(wanted.events(LEAdvertisingReport.self).flatMap(\.reports).allSatisfy { $0.kind == .directed })
        #expect(!wanted.events(LEAdvertisingReport.self).isEmpty)
        #expect(other.events(LEAdvertisingReport.self).count == others)
    }

    // At most 1.28 s with an event every 3.75 ms, then Connection Complete with 0x3C (4.4.2.4.3).
    @Test func highDutyCycleEndsByItself() throws {
        let world = LinkLayerWorld()
        let advertiser = world.host()
        var starts: [Int64] = []
        world.sniff { if $0.frame.channel == 37 { starts.append($0.start.microseconds) } }
        advertiser.advertise(.directedHighDutyCycle, peer: BluetoothAddress(7, kind: .publicDevice))
        world.run(.seconds(5))
        #expect(zip(starts, starts.dropFirst()).allSatisfy { $1 - $0 <= 3_750 })
        #expect(starts.count >= 267)
        let end = try #require(advertiser.packets.last)
        #expect(end.at.microseconds == 1_280_000)
        #expect(advertiser.events(LEEnhancedConnectionComplete.self).map(\.status) == [.advertisingTimeout])
        #expect(!advertiser.controller.advertiser.isEnabled)
    }

    @Test func directedAdvertisingConnects() throws {
        let world = LinkLayerWorld()
        let (peripheral, central, stranger) = (world.host(), world.host(at: 1), world.host(at: 2))
        stranger.connect(to: peripheral.address)
        central.connect(to: peripheral.address)
        peripheral.advertise(.directedHighDutyCycle, peer: central.address)
        world.run(.seconds(2))
        #expect(central.events(LEEnhancedConnectionComplete.self).map(\.status) == [.success])
        #expect(peripheral.events(LEEnhancedConnectionComplete.self).map(\.status) == [.success])
        #expect(stranger.events(LEEnhancedConnectionComplete.self).isEmpty)
    }

    @Test func theChannelMapIsKept() {
        let world = LinkLayerWorld()
        let advertiser = world.host()
        var channels: Set<UInt8> = []
        world.sniff { channels.insert($0.frame.channel) }
        advertiser.send(LESetAdvertisingParameters.sending(.nonConnectable, channels: .channel38))
        advertiser.send(LESetAdvertisingEnable(isEnabled: true))
        world.run(.seconds(1))
        #expect(channels == [38])
    }

    @Test(arguments: [
        LEAdvertisingFilterPolicy.unfiltered, .scanFromAcceptList, .connectFromAcceptList, .acceptListOnly,
    ])
    func advertisingFilterPolicies(policy: LEAdvertisingFilterPolicy) {
        let (world, peripheral, stranger) = LinkLayerWorld.withTwoHosts()
        peripheral.send(LESetAdvertisingParameters.sending(.connectableScannable, policy: policy))
        peripheral.send(LESetAdvertisingEnable(isEnabled: true))
        stranger.scan(.active)
        world.run(.seconds(1))
        let responses = stranger.events(LEAdvertisingReport.self).flatMap(\.reports).contains {
            $0.kind == .scanResponse
        }
        #expect(responses == (policy == .unfiltered || policy == .connectFromAcceptList))
        stranger.send(LESetScanEnable(isEnabled: false, filterDuplicates: .disabled))
        stranger.connect(to: peripheral.address)
        world.run(.seconds(1))
        let isConnected = !peripheral.events(LEEnhancedConnectionComplete.self).isEmpty
        #expect(isConnected == (policy == .unfiltered || policy == .scanFromAcceptList))
    }

    @Test func dataChangeWhileAdvertising() {
        let (world, advertiser, scanner) = LinkLayerWorld.withTwoHosts()
        advertiser.advertise()
        scanner.scan()
        world.run(.seconds(1))
        advertiser.send(LESetAdvertisingData(data: [1, 2]))
        // The event in progress keeps the data it began with.
        world.run(.milliseconds(40))
        scanner.forget()
        world.run(.seconds(1))
        #expect(Set(scanner.events(LEAdvertisingReport.self).flatMap(\.reports).map(\.data)) == [[1, 2]])
    }
}
