import BluetoothTypes
import EventLoops
import HCI
import Testing

@testable import LinkLayer

extension TestHost {
    /// Starts a train for a set, with an interval of 100 ms.
    @discardableResult
    func advertisePeriodically(
        set: UInt8 = 0,
        data: PacketBuffer = sampleData(20),
        interval: UInt16 = 80,
        _ change: (inout LESetExtendedAdvertisingParameters) -> Void = { _ in }
    ) -> HCIStatus {
        prepare(set: set, change)
        send(
            LESetPeriodicAdvertisingParameters(set: set, intervalMin: interval, intervalMax: interval, properties: [])
        )
        givePeriodic(data, to: set)
        let status = send(LESetPeriodicAdvertisingEnable(enable: .enable, set: set))
        enable([(set, 0, 0)])
        return status
    }

    func givePeriodic(_ data: PacketBuffer, to set: UInt8) {
        var rest = data
        repeat {
            let isFirst = rest.count == data.count
            let isLast = rest.count <= 250
            let operation: LEDataOperation = isFirst ? (isLast ? .complete : .first) : (isLast ? .last : .intermediate)
            send(LESetPeriodicAdvertisingData(set: set, operation: operation, data: rest.prefix(upTo: 250)))
            rest = rest.suffix(after: 250)
        } while !rest.isEmpty
    }

    /// Synchronizes to the train of a set.
    @discardableResult
    func synchronize(
        to address: BluetoothAddress,
        sid: UInt8 = 3,
        options: LEPeriodicSyncOptions = [],
        skip: UInt16 = 0,
        timeout: UInt16 = 100
    ) -> HCIStatus {
        send(
            LEPeriodicAdvertisingCreateSync {
                $0.options = options
                $0.sid = sid
                $0.address = address
                $0.skip = skip
                $0.timeout = timeout
                $0.toneKinds = 0
            }
        )
    }

    var trains: [LEPeriodicAdvertisingSyncEstablished] { events() }

    /// The reports with their data reassembled.
    var periodicReports: [LEPeriodicAdvertisingReport] {
        var (whole, partial): ([LEPeriodicAdvertisingReport], PacketBuffer) = ([], [])
        for report in events(LEPeriodicAdvertisingReport.self) {
            partial.append(contentsOf: report.data)
            guard report.dataStatus != .moreToCome else { continue }
            var report = report
            report.data = partial
            partial = []
            whole.append(report)
        }
        return whole
    }
}

/// Periodic advertising (Core Vol 6 Part B 4.4.2.12, 4.4.3.4) on the simulated air.
@Suite struct PeriodicAdvertisingTests {
    private func follow(
        data: PacketBuffer = sampleData(20),
        phy: LEPHY = .le1M,
        interval: UInt16 = 80,
        skip: UInt16 = 0,
        world: LinkLayerWorld = LinkLayerWorld()
    ) throws -> (advertiser: TestHost, scanner: TestHost, train: LEPeriodicAdvertisingSyncEstablished) {
        let (advertiser, scanner) = (world.host(), world.host(at: 1))
        #expect(advertiser.advertisePeriodically(data: data, interval: interval) { $0.secondaryPHY = phy } == .success)
        scanner.scanExtended()
        #expect(scanner.synchronize(to: advertiser.address, skip: skip, timeout: 0x400) == .success)
        #expect(world.run(upTo: .seconds(10)) { !scanner.trains.isEmpty })
        return (advertiser, scanner, try #require(scanner.trains.first))
    }

    @Test(arguments: [LEPHY.le1M, .le2M, .coded], [0, 20, 251, 600])
    func aTrainIsFollowedAndItsDataReported(phy: LEPHY, count: Int) throws {
        let world = LinkLayerWorld()
        let (advertiser, scanner, train) = try follow(data: sampleData(count), phy: phy, world: world)
        #expect(train.status == .success)
        #expect(train.address == advertiser.address)
        #expect(train.sid == 3)
        #expect(train.phy == phy)
        #expect(train.interval == 80)
        #expect(train.accuracy == .ppm50)
        scanner.forget()
        world.run(.seconds(2))
        let reports = scanner.periodicReports
        #expect(reports.count >= 17)
        #expect(reports.allSatisfy { $0.sync == train.sync && $0.toneKind == 0xFF })
        #expect(reports.allSatisfy { $0.txPower == 127 && $0.rssi == -40 })
        let whole = reports.filter { $0.dataStatus == .complete }
        #expect(whole.count >= 16)
        #expect(whole.allSatisfy { $0.data == sampleData(count) })
        #expect(scanner.events(LEPeriodicAdvertisingReport.self).allSatisfy { $0.data.count <= 247 })
    }

    @Test func theTrainKeepsItsTimesAndItsOwnChannels() throws {
        let world = LinkLayerWorld()
        var frames: [(at: Int64, frame: RadioFrame)] = []
        world.sniff { frames.append(($0.start.microseconds, $0.frame)) }
        let advertiser = world.host()
        advertiser.advertisePeriodically()
        world.run(.seconds(10))
        let train = frames.filter { $0.frame.accessAddress != AccessAddress.advertising }
        #expect((98...100).contains(train.count))
        #expect(Set(train.map(\.frame.accessAddress)).count == 1)
        #expect(zip(train, train.dropFirst()).allSatisfy { $1.at - $0.at == 100_000 })
        #expect(Set(train.map(\.frame.channel)).count > 20)
        #expect(train.allSatisfy { $0.frame.channel < 37 })
        // The SyncInfo in AUX_ADV_IND leads to one of them, on the channel selected by its event counter.
        var leads = 0
        for (at, frame) in frames where frame.accessAddress == AccessAddress.advertising && frame.channel < 37 {
            guard case .extended(let body)? = try? AdvertisingPDU(reading: PacketBuffer(frame.pdu)),
                let sync = body.extended.sync
            else { continue }
            let target = at + sync.offset
            guard let found = train.first(where: { (target...target + sync.unit).contains($0.at) }) else { continue }
            let selection = ChannelSelection2(accessAddress: sync.accessAddress)
            #expect(found.frame.channel == selection.channel(counter: sync.counter, map: sync.map))
            #expect(sync.crcInit == found.frame.crcInit)
            #expect(sync.interval == 80)
            #expect(sync.accessAddress == found.frame.accessAddress)
            leads += 1
        }
        #expect(leads > 300)
    }

    @Test func theHostSaysWhichChannelsTheTrainUses() throws {
        let (world, advertiser, scanner) = LinkLayerWorld.withTwoHosts()
        var channels: Set<UInt8> = []
        world.sniff { if $0.frame.accessAddress != AccessAddress.advertising { channels.insert($0.frame.channel) } }
        advertiser.send(LESetHostChannelClassification(channelMap: ChannelMap(bits: 0b1110).octets))
        advertiser.advertisePeriodically(data: sampleData(600))
        scanner.scanExtended()
        scanner.synchronize(to: advertiser.address)
        world.run(.seconds(5))
        #expect(channels == [1, 2, 3])
        #expect(scanner.periodicReports.count { $0.data == sampleData(600) } >= 40)
    }

    @Test func itOutlastsTheAdvertisingAndTheScan() throws {
        let world = LinkLayerWorld()
        let (advertiser, scanner, train) = try follow(world: world)
        advertiser.enable([(0, 0, 0)], false)
        scanner.send(LESetExtendedScanEnable(isEnabled: false, filterDuplicates: .disabled, duration: 0, period: 0))
        scanner.forget()
        world.run(.seconds(3))
        #expect(scanner.periodicReports.count >= 29)
        // The set cannot be removed before its train.
        #expect(advertiser.send(LERemoveAdvertisingSet(set: 0)) == .commandDisallowed)
        #expect(advertiser.send(LEClearAdvertisingSets()) == .commandDisallowed)
        advertiser.send(LESetPeriodicAdvertisingEnable(enable: [], set: 0))
        scanner.forget()
        world.run(.seconds(12))
        #expect(scanner.events(LEPeriodicAdvertisingSyncLost.self).map(\.sync) == [train.sync])
        #expect(scanner.periodicReports.isEmpty)
        #expect(scanner.send(LEPeriodicAdvertisingTerminateSync(sync: train.sync)) == .unknownAdvertisingIdentifier)
        #expect(advertiser.send(LERemoveAdvertisingSet(set: 0)) == .success)
    }

    @Test func aTrainIsLostAfterItsTimeAndNotBefore() throws {
        let (world, advertiser, scanner) = LinkLayerWorld.withTwoHosts()
        advertiser.advertisePeriodically()
        scanner.scanExtended()
        scanner.synchronize(to: advertiser.address, timeout: 300)
        #expect(world.run(upTo: .seconds(5)) { scanner.trains.count == 1 })
        world.run(.seconds(1))
        advertiser.send(LESetPeriodicAdvertisingEnable(enable: [], set: 0))
        let end = world.loop.now
        #expect(world.run(upTo: .seconds(10)) { !scanner.events(LEPeriodicAdvertisingSyncLost.self).isEmpty })
        #expect((.milliseconds(2_890)...(.milliseconds(3_010))).contains(world.loop.now - end))
    }

    @Test func dataMayChangeWhileTheTrainRuns() throws {
        let world = LinkLayerWorld()
        let (advertiser, scanner, _) = try follow(world: world)
        let piece = LESetPeriodicAdvertisingData(set: 0, operation: .first, data: [1])
        #expect(advertiser.send(piece) == .commandDisallowed)
        let new = LESetPeriodicAdvertisingData(set: 0, operation: .complete, data: [7, 8, 9])
        #expect(advertiser.send(new) == .success)
        world.run(.milliseconds(150))
        scanner.forget()
        world.run(.seconds(1))
        #expect(scanner.periodicReports.count >= 9)
        #expect(scanner.periodicReports.allSatisfy { $0.data == [7, 8, 9] })
    }

    @Test func eventsMayBeSkipped() throws {
        let world = LinkLayerWorld()
        let (_, scanner, _) = try follow(skip: 4, world: world)
        scanner.forget()
        world.run(.seconds(10))
        #expect((19...21).contains(scanner.periodicReports.count))
    }

    @Test func reportsAreForThoseWhoWantThem() throws {
        let (world, advertiser, scanner) = LinkLayerWorld.withTwoHosts()
        advertiser.advertisePeriodically()
        scanner.scanExtended()
        scanner.synchronize(to: advertiser.address, options: .withoutReports)
        world.run(.seconds(3))
        let train = try #require(scanner.trains.first)
        #expect(train.status == .success)
        #expect(scanner.periodicReports.isEmpty)
        #expect(scanner.send(LESetPeriodicAdvertisingReceiveEnable(sync: train.sync, enable: .reports)) == .success)
        world.run(.seconds(1))
        #expect(scanner.periodicReports.count >= 9)
        #expect(scanner.send(LESetPeriodicAdvertisingReceiveEnable(sync: train.sync, enable: [])) == .success)
        scanner.forget()
        world.run(.seconds(1))
        #expect(scanner.periodicReports.isEmpty)
        #expect(scanner.events(LEPeriodicAdvertisingSyncLost.self).isEmpty)
    }

    @Test func onlyWhoIsMeantIsFollowed() throws {
        let world = LinkLayerWorld()
        let (one, other, scanner) = (world.host(), world.host(at: 2), world.host(at: 1))
        one.advertisePeriodically()
        other.advertisePeriodically { $0.sid = 5 }
        scanner.scanExtended()
        scanner.synchronize(to: other.address, sid: 3)
        world.run(.seconds(2))
        #expect(scanner.trains.isEmpty)
        #expect(scanner.synchronize(to: other.address, sid: 5) == .commandDisallowed)
        #expect(scanner.send(LEPeriodicAdvertisingCreateSyncCancel()) == .success)
        #expect(scanner.trains.map(\.status) == [.operationCancelledByHost])
        #expect(scanner.send(LEPeriodicAdvertisingCreateSyncCancel()) == .commandDisallowed)
        // Using the periodic advertiser list.
        let entry = LEAddDeviceToPeriodicAdvertiserList(address: other.address, sid: 5)
        #expect(scanner.send(entry) == .success)
        #expect(scanner.send(entry) == .invalidParameters)
        scanner.synchronize(to: one.address, sid: 3, options: .usesList)
        #expect(scanner.send(LEClearPeriodicAdvertiserList()) == .commandDisallowed)
        world.run(.seconds(2))
        #expect(scanner.trains.map(\.address) == [.none, other.address])
        #expect(scanner.synchronize(to: other.address, sid: 5) == .connectionAlreadyExists)
        let removal = LERemoveDeviceFromPeriodicAdvertiserList(address: other.address, sid: 5)
        #expect(scanner.send(removal) == .success)
        #expect(scanner.send(removal) == .unknownAdvertisingIdentifier)
    }

    // 4.4.3.4: six events without a PDU.
    @Test func aTrainThatIsNotThereIsGivenUp() throws {
        let (world, advertiser, scanner) = LinkLayerWorld.withTwoHosts()
        advertiser.advertisePeriodically(interval: 400)
        // SyncInfo is received, but nothing of the train.
        world.radio.onSend = { frame in
            if frame.accessAddress != AccessAddress.advertising { frame.crcInit ^= 1 }
        }
        scanner.scanExtended()
        scanner.synchronize(to: advertiser.address)
        // The first event is 500 ms after the beginning, and the others follow at that interval.
        let begin = world.loop.now
        #expect(world.run(upTo: .seconds(5)) { !scanner.trains.isEmpty })
        #expect((.milliseconds(2_950)...(.milliseconds(3_050))).contains(world.loop.now - begin))
        world.run(.seconds(5))
        #expect(scanner.trains.map(\.status) == [.connectionFailedToBeEstablished])
    }

    @Test func listsAndTrainsAreBounded() throws {
        let host = LinkLayerWorld().host()
        #expect(try host.read(LEReadPeriodicAdvertiserListSize()).value == 16)
        for number in 0..<16 {
            let address = BluetoothAddress(UInt64(number), kind: .publicDevice)
            #expect(host.send(LEAddDeviceToPeriodicAdvertiserList(address: address, sid: 1)) == .success)
        }
        let last = LEAddDeviceToPeriodicAdvertiserList(address: host.address, sid: 1)
        #expect(host.send(last) == .memoryCapacityExceeded)
        host.send(Reset())
        #expect(host.send(last) == .success)
    }

    @Test func losses() throws {
        let world = LinkLayerWorld { $0.lossRate = 0.3 }
        let (_, scanner, train) = try follow(data: sampleData(600), world: world)
        world.run(.seconds(30))
        #expect(scanner.events(LEPeriodicAdvertisingSyncLost.self).isEmpty)
        #expect(train.status == .success)
        let reports = scanner.periodicReports
        #expect(reports.contains { $0.dataStatus == .truncated })
        #expect(reports.contains { $0.dataStatus == .complete })
        for report in reports { #expect(report.data == sampleData(600).prefix(upTo: report.data.count)) }
    }
}

// Core Vol 4 Part E 7.8.61 to 7.8.69, 7.8.88 to 7.8.92.
private func parameters(_ least: UInt16 = 80, _ most: UInt16 = 80, set: UInt8 = 0) -> LESetPeriodicAdvertisingParameters
{
    .init(set: set, intervalMin: least, intervalMax: most, properties: [])
}

private func data(_ operation: LEDataOperation, _ octets: PacketBuffer) -> LESetPeriodicAdvertisingData {
    .init(set: 0, operation: operation, data: octets)
}

private let prepared: @Sendable (TestHost) -> Void = {
    $0.prepare()
    $0.send(parameters())
}

private let running: @Sendable (TestHost) -> Void = { $0.advertisePeriodically() }

private func creating(
    _ change: (inout LEPeriodicAdvertisingCreateSync) -> Void
) -> LEPeriodicAdvertisingCreateSync {
    var command = LEPeriodicAdvertisingCreateSync()
    (command.sid, command.address, command.timeout) = (3, BluetoothAddress(1, kind: .publicDevice), 100)
    change(&command)
    return command
}

private let cases: [CommandCase] = [
    CommandCase("parameters of no set", .unknownAdvertisingIdentifier, parameters()),
    .accepted("parameters", parameters()) { $0.prepare() },
    .accepted("the shortest interval", parameters(6, 0xFFFF)) { $0.prepare() },
    .invalid("a shorter interval", parameters(5, 80)) { $0.prepare() },
    .invalid("from the end", parameters(81, 80)) { $0.prepare() },
    .invalid("connectable", parameters()) { $0.prepare(.connectable) },
    .invalid("scannable", parameters()) { $0.prepare(.scannable) },
    .invalid("anonymous", parameters()) { $0.prepare(.anonymous) },
    .invalid("legacy", parameters()) { $0.prepare(.legacy) },
    CommandCase("parameters of a train", .commandDisallowed, parameters(), after: running),
    CommandCase("data of no set", .unknownAdvertisingIdentifier, data(.complete, [1])),
    .disallowed("data before parameters", data(.complete, [1])) { $0.prepare() },
    CommandCase("data", .success, data(.complete, [1]), after: prepared),
    CommandCase("no data", .success, data(.complete, []), after: prepared),
    CommandCase("a first part of nothing", .invalidParameters, data(.first, []), after: prepared),
    CommandCase("the same data", .success, data(.unchanged, []), after: running),
    CommandCase("the same data without a train", .invalidParameters, data(.unchanged, []), after: prepared),
    CommandCase("a fifth operation", .invalidParameters, data(.init(rawValue: 5), [1]), after: prepared),
    CommandCase("too many data", .memoryCapacityExceeded, data(.last, sampleData(252))) {
        prepared($0)
        for number in 0..<6 { $0.send(data(number == 0 ? .first : .intermediate, sampleData(250))) }
    },
    CommandCase(
        "a train of an unknown set",
        .unknownAdvertisingIdentifier,
        LESetPeriodicAdvertisingEnable(enable: .enable, set: 0)
    ),
    .disallowed("a train before parameters", LESetPeriodicAdvertisingEnable(enable: .enable, set: 0)) {
        $0.prepare()
    },
    .disallowed("a train of a part", LESetPeriodicAdvertisingEnable(enable: .enable, set: 0)) {
        prepared($0)
        $0.send(data(.first, [1]))
    },
    CommandCase("a train", .success, LESetPeriodicAdvertisingEnable(enable: .enable, set: 0), after: prepared),
    CommandCase(
        "a train with ADI",
        .unsupportedFeatureOrParameter,
        LESetPeriodicAdvertisingEnable(enable: [.enable, .includeInfo], set: 0),
        after: prepared
    ),
    CommandCase("longer than its interval", .packetTooLong, LESetPeriodicAdvertisingEnable(enable: .enable, set: 0)) {
        $0.prepare()
        $0.send(parameters(6, 6))
        $0.givePeriodic(sampleData(1_000), to: 0)
    },
    CommandCase("longer data than its interval", .packetTooLong, data(.complete, sampleData(250))) {
        $0.prepare { $0.secondaryPHY = .coded }
        $0.send(parameters(6, 6))
        $0.send(LESetPeriodicAdvertisingEnable(enable: .enable, set: 0))
    },
    .accepted("looking", creating { _ in }),
    .disallowed("looking twice", creating { _ in }) { $0.send(creating { _ in }) },
    .invalid("SID 16", creating { $0.sid = 16 }),
    .invalid("skipping 500", creating { $0.skip = 500 }),
    .invalid("less than 100 ms", creating { $0.timeout = 9 }),
    .invalid("more than 163 s", creating { $0.timeout = 0x4001 }),
    CommandCase("without duplicates", .unsupportedFeatureOrParameter, creating { $0.options = .filtersDuplicates }),
    CommandCase("leaving nothing", .unknownAdvertisingIdentifier, LEPeriodicAdvertisingTerminateSync(sync: 1)),
    CommandCase(
        "reports of nothing",
        .unknownAdvertisingIdentifier,
        LESetPeriodicAdvertisingReceiveEnable(sync: 1, enable: .reports)
    ),
    .accepted(
        "transfer by default",
        LESetDefaultPeriodicAdvertisingSyncTransferParameters(mode: .reports, skip: 0, timeout: 10, toneKinds: 0)
    ),
    .accepted(
        "no transfer by default",
        LESetDefaultPeriodicAdvertisingSyncTransferParameters(mode: .ignore, skip: 0, timeout: 0, toneKinds: 0)
    ),
    .invalid(
        "a fifth mode",
        LESetDefaultPeriodicAdvertisingSyncTransferParameters(
            mode: .init(rawValue: 4),
            skip: 0,
            timeout: 10,
            toneKinds: 0
        )
    ),
    .invalid(
        "transfer with too short a time-out",
        LESetDefaultPeriodicAdvertisingSyncTransferParameters(mode: .reports, skip: 0, timeout: 9, toneKinds: 0)
    ),
]

@Suite struct PeriodicCommandTests {
    @Test(arguments: cases) func answers(each: CommandCase) { each.check() }
}

/// Periodic Advertising Sync Transfer (Core Vol 6 Part B 5.1.13).
@Suite struct SyncTransferTests {
    /// A link whose ends know each other's features; the central accepts sync transfers.
    private func pair(
        _ mode: LESyncTransferMode = .reports,
        interval: UInt16 = 24,
        skip: UInt16 = 0,
        timeout: UInt16 = 200
    ) throws -> Pair {
        let pair = try Pair(interval: interval)
        for (host, handle) in [(pair.central, pair.centralHandle), (pair.peripheral, pair.peripheralHandle)] {
            host.send(LEReadRemoteFeatures(handle: handle))
            pair.world.run(.milliseconds(300))
        }
        let rules = LESetPeriodicAdvertisingSyncTransferParameters(
            handle: pair.centralHandle,
            .init(mode: mode, skip: skip, timeout: timeout, toneKinds: 0)
        )
        #expect(pair.central.send(rules) == .success)
        return pair
    }

    private func told(_ pair: Pair) throws -> LEPeriodicAdvertisingSyncTransferReceived {
        #expect(
            pair.world.run(upTo: .seconds(10)) {
                !pair.central.events(LEPeriodicAdvertisingSyncTransferReceived.self).isEmpty
            }
        )
        return try #require(pair.central.events(LEPeriodicAdvertisingSyncTransferReceived.self).first)
    }

    /// A third device that has used extended commands only; the two ends of the link have used legacy ones.
    private func stranger(_ pair: Pair, interval: UInt16 = 80) -> TestHost {
        let host = pair.world.host(at: 2)
        host.advertisePeriodically(interval: interval)
        pair.world.run(.seconds(1))
        return host
    }

    /// Transfers the train of a third device to the central, as the peripheral would.
    private func report(_ pair: Pair, of host: TestHost) throws {
        let train = try #require(host.controller.trains[0])
        let link = try #require(pair.peripheralLink)
        let event = train.event(after: pair.world.loop.now)
        var pdu = pair.peripheral.controller.indication(of: train.syncInfo(at:offset:), at: event, on: link)
        (pdu.sid, pdu.advertiser, pdu.phy, pdu.serviceData) = (3, host.address, .le1M, 0x1234)
        #expect(link.request(.periodicSync(pdu)))
    }

    @Test(arguments: [6, 24] as [UInt16], [8, 80, 1_600] as [UInt16])
    func aPeerFollowsWhatItIsToldOf(interval: UInt16, train: UInt16) throws {
        let pair = try pair(interval: interval)
        let advertiser = stranger(pair, interval: train)
        try report(pair, of: advertiser)
        let event = try told(pair)
        #expect(event.status == .success)
        #expect(event.handle == pair.centralHandle)
        #expect(event.serviceData == 0x1234)
        #expect(event.address == advertiser.address)
        #expect(event.sid == 3)
        #expect(event.phy == .le1M)
        #expect(event.interval == train)
        #expect(event.accuracy == .ppm50)
        pair.world.run(.seconds(5))
        #expect(pair.central.periodicReports.contains { $0.data == sampleData(20) })
        #expect(pair.centralLink != nil)
    }

    // Core Vol 6 Part B 2.4.2.27: the offset counts from the referenced connection event, and leads to the event of the
    // train with the counter in SyncInfo.
    @Test(arguments: [6, 24, 200] as [UInt16], [8, 80, 1_600] as [UInt16])
    func syncInfoLeadsToTheTrain(interval: UInt16, train: UInt16) throws {
        let pair = try pair(interval: interval)
        let periodic = try #require(stranger(pair, interval: train).controller.trains[0])
        let link = try #require(pair.peripheralLink)
        for _ in 0..<20 {
            pair.world.run(.milliseconds(137))
            let event = periodic.event(after: pair.world.loop.now)
            let pdu = pair.peripheral.controller.indication(of: periodic.syncInfo(at:offset:), at: event, on: link)
            let events = Int(Int16(bitPattern: pdu.reference &- link.counter))
            let target = link.anchor + link.interval * events + .microseconds(pdu.sync.offset)
            #expect((0..<pdu.sync.unit).contains((event.anchor - target).microseconds))
            #expect(pdu.sync.offset > 0)
            #expect(pdu.sync.counter == event.counter)
            #expect(pdu.lastCounter == event.counter)
            #expect(pdu.syncCounter == link.counter)
        }
    }

    @Test func transferParametersOfALinkApply() throws {
        let pair = try pair(skip: 4, timeout: 100)
        let advertiser = stranger(pair)
        try report(pair, of: advertiser)
        _ = try told(pair)
        pair.central.forget()
        pair.world.run(.seconds(5))
        #expect((8...11).contains(pair.central.periodicReports.count))
        advertiser.send(LESetPeriodicAdvertisingEnable(enable: [], set: 0))
        pair.world.run(.milliseconds(400))
        #expect(pair.central.events(LEPeriodicAdvertisingSyncLost.self).isEmpty)
        pair.world.run(.milliseconds(700))
        #expect(pair.central.events(LEPeriodicAdvertisingSyncLost.self).count == 1)
    }

    @Test(arguments: [LESyncTransferMode.ignore, .withoutReports])
    func unwantedTransfersAreNotFollowed(mode: LESyncTransferMode) throws {
        let pair = try pair(mode)
        let advertiser = stranger(pair)
        try report(pair, of: advertiser)
        pair.world.run(.seconds(3))
        let events = pair.central.events(LEPeriodicAdvertisingSyncTransferReceived.self)
        #expect(events.map(\.status) == (mode == .ignore ? [] : [.success]))
        #expect(pair.central.periodicReports.isEmpty)
    }

    @Test func repeatedTransfersAreIgnored() throws {
        let pair = try pair()
        let advertiser = stranger(pair)
        try report(pair, of: advertiser)
        pair.world.run(.seconds(2))
        try report(pair, of: advertiser)
        pair.world.run(.seconds(2))
        #expect(pair.central.events(LEPeriodicAdvertisingSyncTransferReceived.self).count == 1)
    }

    @Test func aTrainThatIsNotThereIsGivenUp() throws {
        let pair = try pair()
        let advertiser = stranger(pair)
        try report(pair, of: advertiser)
        advertiser.send(LESetPeriodicAdvertisingEnable(enable: [], set: 0))
        #expect(try told(pair).status == .connectionFailedToBeEstablished)
    }

    @Test func trainsAreBounded() throws {
        let pair = try pair()
        let advertiser = stranger(pair)
        let link = try #require(pair.centralLink)
        var pdu = PeriodicSyncIndication()
        pdu.sync.offset = 1_000
        (pdu.sync.interval, pdu.sync.map, pdu.phy) = (80, .all, .le1M)
        for number in 0..<100 {
            pdu.advertiser = BluetoothAddress(UInt64(number), kind: .publicDevice)
            pdu.reference = link.counter
            pair.central.controller.receive(pdu, from: link)
        }
        #expect(pair.central.controller.synchronizer.count == Synchronizer.maximumTrains)
        // Trains with invalid parameters are not followed.
        pair.world.run(.seconds(2))
        for change: (inout PeriodicSyncIndication) -> Void in [
            { $0.sync.interval = 5 }, { $0.sync.map = .init(bits: 1) }, { $0.sync.offset = 0 }, { $0.phy = [] },
            { $0.phy = [.le1M, .le2M] }, { $0.phy = .init(rawValue: 8) }, { $0.responses = ResponseTiming() },
        ] {
            var bad = pdu
            change(&bad)
            pair.central.controller.receive(bad, from: link)
            #expect(pair.central.controller.synchronizer.count == 0)
        }
        _ = advertiser
    }

    // Three clocks are involved: the receiver assumes the worse accuracy of the other two.
    @Test(arguments: [(2, 5, 2), (6, 1, 1)] as [(UInt8, UInt8, UInt8)])
    func theWorseClockCounts(teller: UInt8, train: UInt8, reckoned: UInt8) throws {
        let pair = try pair()
        let advertiser = stranger(pair)
        let periodic = try #require(advertiser.controller.trains[0])
        let link = try #require(pair.peripheralLink)
        let event = periodic.event(after: pair.world.loop.now)
        var pdu = pair.peripheral.controller.indication(of: periodic.syncInfo(at:offset:), at: event, on: link)
        (pdu.sid, pdu.advertiser, pdu.phy) = (3, advertiser.address, .le1M)
        (pdu.accuracy, pdu.sync.accuracy) = (ClockAccuracy(code: teller), ClockAccuracy(code: train))
        #expect(link.request(.periodicSync(pdu)))
        let sync = try told(pair).sync
        let follower = try #require(pair.central.controller.synchronizer.follower(sync))
        #expect(follower.train.uncertainty.code == reckoned)
        #expect(follower.train.sync.accuracy.code == train)
    }

    @Test func commandsThatCannotBe() throws {
        let pair = try pair()
        let handle = pair.centralHandle
        #expect(
            pair.central.send(LEPeriodicAdvertisingSyncTransfer(handle: handle, serviceData: 0, sync: 1))
                == .unknownAdvertisingIdentifier
        )
        #expect(
            pair.central.send(LEPeriodicAdvertisingSetInfoTransfer(handle: handle, serviceData: 0, set: 1))
                == .unknownAdvertisingIdentifier
        )
        let nobody = ConnectionHandle(rawValue: 0x0EFF)
        #expect(
            pair.central.send(LEPeriodicAdvertisingSetInfoTransfer(handle: nobody, serviceData: 0, set: 1))
                == .unknownConnection
        )
    }
}
