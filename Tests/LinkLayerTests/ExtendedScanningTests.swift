import BluetoothTypes
import EventLoops
import HCI
import Testing

@testable import LinkLayer

@Suite struct ExtendedScanningTests {
    // Core Vol 6 Part B 4.3.3: the same set with the same DID is reported once, and again after its data have changed.
    @Test func duplicatesAreLeftOutByADI() {
        let (world, advertiser, scanner) = LinkLayerWorld.withTwoHosts()
        advertiser.advertiseExtended(data: [1])
        advertiser.advertiseExtended(set: 1, data: [2]) { $0.sid = 4 }
        scanner.scanExtended(filter: .enabled)
        world.run(.seconds(5))
        #expect(Set(scanner.reports.map(\.sid)) == [3, 4])
        #expect(scanner.reports.count == 2)
        advertiser.send(LESetExtendedAdvertisingData(set: 0, operation: .complete, fragmentPreference: 0, data: [3]))
        world.run(.seconds(5))
        #expect(scanner.reports.count == 3)
        #expect(scanner.reports.last?.data == [3])
    }

    // Vol 4 Part E 7.8.65: with 0x02 each period starts with an empty duplicate filter.
    @Test func duplicatesPerPeriod() {
        let (world, advertiser, scanner) = LinkLayerWorld.withTwoHosts()
        advertiser.advertiseExtended(data: [1])
        scanner.scanExtended(filter: .enabledPerPeriod, duration: 50, period: 1)
        world.run(.milliseconds(1_280 * 4))
        #expect(scanner.reports.count == 4)
        #expect(scanner.events(LEScanTimeout.self).isEmpty)
    }

    @Test func duplicatesOverPeriods() {
        let (world, advertiser, scanner) = LinkLayerWorld.withTwoHosts()
        advertiser.advertiseExtended(data: [1])
        scanner.scanExtended(filter: .enabled, duration: 50, period: 1)
        world.run(.milliseconds(1_280 * 4))
        #expect(scanner.reports.count == 1)
        // The scanner listens for 0.5 s of each 1.28 s.
        let listening = Double(scanner.controller.node.airTime.listening) / (1_280_000 * 4)
        #expect(abs(listening - 0.39) < 0.01)
    }

    @Test func aDurationEndsWithScanTimeout() throws {
        let (world, advertiser, scanner) = LinkLayerWorld.withTwoHosts()
        advertiser.advertiseExtended()
        scanner.scanExtended(duration: 100)
        world.run(.seconds(5))
        let last = try #require(scanner.packets.last)
        #expect(last.at == Instant(microseconds: 1_000_000))
        #expect(scanner.events(LEScanTimeout.self).count == 1)
        // Scanning has ended, so its parameters and the random address may be set.
        #expect(scanner.send(LESetRandomAddress(address: BluetoothAddress(1, kind: .randomDevice))) == .success)
    }

    @Test func anAnonymousAdvertiserHasNoAddress() throws {
        let (world, advertiser, scanner) = LinkLayerWorld.withTwoHosts()
        advertiser.advertiseExtended(.anonymous, data: sampleData(300))
        scanner.scanExtended()
        world.run(.seconds(1))
        let report = try #require(scanner.wholeReports.first)
        #expect(report.address == BluetoothAddress(0, kind: .init(rawValue: 0xFF)))
        #expect(report.data == sampleData(300))
    }

    // Vol 4 Part E 7.8.16: type 0xFF on the accept list lets anonymous advertisers through.
    @Test(arguments: [true, false], [true, false])
    func theAcceptListFilters(isAnonymous: Bool, acceptsAnonymous: Bool) {
        let world = LinkLayerWorld()
        let (advertiser, other, scanner) = (world.host(), world.host(at: 1), world.host(at: 2))
        advertiser.advertiseExtended(isAnonymous ? .anonymous : [], data: [1])
        other.advertiseExtended(isAnonymous ? .anonymous : [], data: [2])
        let entry = acceptsAnonymous ? BluetoothAddress(5, kind: .init(rawValue: 0xFF)) : advertiser.address
        scanner.send(LEAddDeviceToFilterAcceptList(address: entry))
        scanner.scanExtended(policy: .acceptListOnly)
        world.run(.seconds(1))
        let heard = Set(scanner.reports.map(\.data))
        #expect(heard == (isAnonymous ? (acceptsAnonymous ? [[1], [2]] : []) : (acceptsAnonymous ? [] : [[1]])))
    }

    @Test(arguments: [[.directed], [.directed, .connectable]] as [LEAdvertisingProperties])
    func directedAdvertisingIsForOneDevice(properties: LEAdvertisingProperties) throws {
        let world = LinkLayerWorld()
        let (advertiser, wanted, other) = (world.host(), world.host(at: 1), world.host(at: 2))
        advertiser.advertiseExtended(properties, data: [1]) { $0.peerAddress = wanted.address }
        wanted.scanExtended()
        other.scanExtended()
        world.run(.seconds(1))
        let report = try #require(wanted.reports.first)
        #expect(report.kind.contains(.directed))
        #expect(report.directAddress == wanted.address)
        #expect(report.data == [1])
        #expect(other.reports.isEmpty)
    }

    @Test(arguments: [true, false])
    func aDirectedScannableSetAnswersOneDevice(isWanted: Bool) {
        let (world, advertiser, scanner) = LinkLayerWorld.withTwoHosts()
        advertiser.advertiseExtended([.directed, .scannable], scanResponse: [7]) {
            $0.peerAddress = isWanted ? scanner.address : BluetoothAddress(7, kind: .publicDevice)
        }
        scanner.scanExtended(.active)
        world.run(.seconds(1))
        #expect(scanner.reports.contains { $0.kind.contains(.scanResponse) } == isWanted)
    }

    // The advertiser's filter accept list applies to requests on the secondary channels.
    @Test(arguments: [
        LEAdvertisingFilterPolicy.unfiltered, .scanFromAcceptList, .connectFromAcceptList, .acceptListOnly,
    ])
    func advertisingFilterPolicies(policy: LEAdvertisingFilterPolicy) {
        let (world, peripheral, stranger) = LinkLayerWorld.withTwoHosts()
        peripheral.advertiseExtended(.scannable, scanResponse: [1]) { $0.filterPolicy = policy }
        peripheral.advertiseExtended(.connectable, set: 1) { $0.filterPolicy = policy }
        stranger.scanExtended(.active)
        world.run(.seconds(1))
        let responses = stranger.reports.contains { $0.kind.contains(.scanResponse) }
        #expect(responses == (policy == .unfiltered || policy == .connectFromAcceptList))
        stranger.connectExtended(to: peripheral.address)
        world.run(.seconds(1))
        #expect(peripheral.connections.isEmpty == (policy == .connectFromAcceptList || policy == .acceptListOnly))
        // The list is in use and cannot change.
        let change = peripheral.send(LEClearFilterAcceptList())
        #expect(change == (policy == .unfiltered ? .success : .commandDisallowed))
    }

    // ADV_EXT_IND, then on another channel AUX_ADV_IND, AUX_SCAN_REQ and AUX_SCAN_RSP, an inter frame space apart.
    @Test(arguments: [LEPHY.le1M, .le2M, .coded])
    func anExchangeTakesItsTime(phy: LEPHY) throws {
        let (world, advertiser, scanner) = LinkLayerWorld.withTwoHosts()
        var frames: [SniffedFrame] = []
        world.sniff { frames.append($0) }
        scanner.scanExtended(.active)
        advertiser.advertiseExtended(.scannable, scanResponse: sampleData(100)) { $0.secondaryPHY = phy }
        world.run(.milliseconds(15))
        let secondary = frames.filter { $0.frame.channel < 37 }
        try #require(secondary.count == 3)
        #expect(secondary.map { $0.frame.pdu[0] & 0xF } == [7, 3, 7])
        #expect(Set(secondary.map(\.frame.channel)).count == 1)
        #expect(secondary.allSatisfy { $0.frame.phy == phy.radioPHY })
        for (a, b) in zip(secondary, secondary.dropFirst()) {
            #expect((b.start - a.start).microseconds == a.frame.airTimeMicroseconds + 150)
        }
    }

    // Scan windows on both PHYs: each gets its share of the time.
    @Test(arguments: [(0x10, 0x10), (0x20, 0x10), (0x40, 0x10)] as [(UInt16, UInt16)])
    func bothPHYsAreListenedTo(interval: UInt16, window: UInt16) {
        let world = LinkLayerWorld()
        let scanner = world.host()
        scanner.scanExtended(phys: [.le1M, .coded], interval: interval, window: window)
        var time: [LEPHY: Int] = [:]
        var channels: [LEPHY: Set<UInt8>] = [:]
        for _ in 0..<10_000 {
            world.run(.microseconds(501))
            guard scanner.controller.radioOwner === scanner.controller.scanner else { continue }
            let listener = scanner.controller.scanner
            time[listener?.primaryPHY ?? .none, default: 0] += 1
            channels[listener?.primaryPHY ?? .none, default: []].insert(listener?.channel ?? 0)
        }
        let part = min(Double(window) / Double(interval), 0.5)
        for phy in [LEPHY.le1M, .coded] {
            #expect(abs(Double(time[phy] ?? 0) / 10_000 - part) < 0.02, "\(phy)")
            #expect(channels[phy] == [37, 38, 39])
        }
    }

    // A frame that is arriving when the other PHY's window opens is received to its end.
    @Test(arguments: [LEPHY.le1M, .coded])
    func thePHYOfAReportIsThatOfThePDU(primary: LEPHY) {
        let (world, advertiser, scanner) = LinkLayerWorld.withTwoHosts()
        advertiser.advertiseExtended(data: sampleData(100)) { $0.primaryPHY = primary }
        scanner.scanExtended(phys: [.le1M, .coded], interval: 0x10, window: 0x10)
        world.run(.seconds(60))
        #expect(scanner.wholeReports.count > 100)
        #expect(Set(scanner.wholeReports.map(\.primaryPHY)) == [primary])
    }

    // A chain that loses a PDU is reported as truncated with the data received so far, and again once received whole.
    @Test func aChainThatIsLostIsTruncated() throws {
        let (world, advertiser, scanner) = LinkLayerWorld.withTwoHosts()
        let noise = world.radio.add(at: Position(x: 1))
        advertiser.advertiseExtended(data: sampleData(1_000))
        scanner.scanExtended(filter: .enabled)
        // The third PDU on a secondary channel is jammed, until 1 s.
        var count = 0
        world.sniff { frame in
            guard frame.sender == advertiser.controller.node.id else { return }
            count = frame.frame.channel < 37 ? count + 1 : 0
            guard count == 3, world.loop.now < Instant(microseconds: 1_000_000) else { return }
            let channel = frame.frame.channel
            world.loop.schedule(after: .microseconds(50)) {
                noise.send(.init(channel: channel, accessAddress: 0, crcInit: 0, phy: .le1M, pdu: [0]))
            }
        }
        world.run(.milliseconds(990))
        let truncated = scanner.wholeReports
        #expect(truncated.count > 10)
        #expect(truncated.allSatisfy { $0.kind.dataStatus == .truncated })
        // 242 octets after the header with an address, then 248.
        #expect(truncated.allSatisfy { $0.data == sampleData(1_000).prefix(upTo: 242 + 248) })
        scanner.forget()
        world.run(.seconds(2))
        let whole = scanner.wholeReports.filter { $0.kind.dataStatus == .complete }
        #expect(whole.count == 1)
        #expect(whole.first?.data == sampleData(1_000))
    }

    // Without AUX_ADV_IND there is nothing to report.
    @Test func anAdvertisementThatIsLostIsNotReported() {
        let (world, advertiser, scanner) = LinkLayerWorld.withTwoHosts()
        let noise = world.radio.add(at: Position(x: 1))
        world.sniff { frame in
            guard frame.sender == advertiser.controller.node.id, frame.frame.channel < 37 else { return }
            let channel = frame.frame.channel
            world.loop.execute {
                noise.send(.init(channel: channel, accessAddress: 0, crcInit: 0, phy: .le1M, pdu: [0]))
            }
        }
        advertiser.advertiseExtended(data: [1])
        scanner.scanExtended()
        world.run(.seconds(1))
        #expect(scanner.reports.isEmpty)
    }

    @Test func scanningGoesOnBesideALink() throws {
        let world = LinkLayerWorld()
        let pair = try Pair(world)
        let advertiser = world.host(at: 2)
        advertiser.advertiseExtended(data: sampleData(1_650))
        // The pair has used legacy commands, so the scanner is a third device whose link uses extended ones.
        let (central, peripheral) = (world.host(at: 3), world.host(at: 4))
        peripheral.advertiseExtended(.connectable)
        central.connectExtended(to: peripheral.address) { ($0.intervalMin, $0.intervalMax) = (24, 24) }
        world.run(.seconds(1))
        #expect(central.connections.count == 1)
        central.scanExtended()
        world.run(.seconds(5))
        #expect(central.wholeReports.contains { $0.kind.dataStatus == .complete && $0.data == sampleData(1_650) })
        #expect(central.events(DisconnectionComplete.self).isEmpty)
        #expect(pair.central.events(DisconnectionComplete.self).isEmpty)
    }

    // A long chain beside the advertiser's own link: its PDUs are scheduled between the connection events.
    @Test func advertisingAChainBesideALink() throws {
        let world = LinkLayerWorld()
        let (central, peripheral, scanner) = (world.host(), world.host(at: 1), world.host(at: 2))
        peripheral.advertiseExtended(.connectable)
        central.connectExtended(to: peripheral.address) { ($0.intervalMin, $0.intervalMax) = (16, 16) }
        world.run(.seconds(1))
        try #require(central.connections.count == 1)
        let links = [try #require(central.controller.links.first), try #require(peripheral.controller.links.first)]
        peripheral.advertiseExtended(set: 1, data: sampleData(1_650))
        central.advertiseExtended(set: 1, data: sampleData(1_650)) { $0.sid = 9 }
        scanner.scanExtended()
        var missed = 0
        for _ in 0..<1_000 {
            world.run(.milliseconds(10))
            missed += links.count { $0.missed > 0 }
        }
        for sid in [3, 9] as [UInt8] {
            let reports = scanner.wholeReports.filter { $0.sid == sid }
            let whole = reports.count { $0.kind.dataStatus == .complete }
            #expect(whole > 100, "\(sid): \(whole) of \(reports.count)")
        }
        #expect(missed < 20, "\(missed)")
        #expect(central.events(DisconnectionComplete.self).isEmpty)
    }
}
