import BluetoothTypes
import EventLoops
import HCI
import Testing

@testable import LinkLayer

/// Periodic advertising with responses (Core Vol 6 Part B 4.4.2.12, 4.4.3.4) on the simulated air.
@Suite struct PeriodicResponseTests {
    /// A train, and a listener synchronized to it.
    private struct Scene {
        let world: LinkLayerWorld
        let advertiser: TestHost
        let listener: TestHost
        let train: LEPeriodicAdvertisingSyncEstablishedV2
        var sync: UInt16 { train.v1.sync }

        init(
            _ parameters: LESetPeriodicAdvertisingParametersV2 = .sample(),
            slots: Range<UInt8> = 0..<4,
            phy: LEPHY = .le1M,
            skip: UInt16 = 0,
            world: LinkLayerWorld = LinkLayerWorld(),
            data: @escaping (UInt8) -> PacketBuffer? = { [$0, 0xDA] }
        ) throws {
            self.world = world
            (advertiser, listener) = (world.host(), world.host(at: 1))
            let status = advertiser.advertiseResponsively(
                parameters,
                slots: slots,
                on: world,
                { $0.secondaryPHY = phy },
                data: data
            )
            #expect(status == .success)
            listener.unmask(TestHost.newestForms)
            listener.scanExtended()
            #expect(listener.synchronize(to: advertiser.address, skip: skip, timeout: 200) == .success)
            let listener = listener
            #expect(world.run(upTo: .seconds(10)) { !listener.newTrains.isEmpty })
            train = try #require(listener.newTrains.first)
            listener.send(
                LESetExtendedScanEnable(isEnabled: false, filterDuplicates: .disabled, duration: 0, period: 0)
            )
            listener.forget()
            advertiser.forget()
        }

        var own: PeriodicAdvertiser? { advertiser.controller.trains[0] }
    }

    /// The frames of the train, and of the responses to it.
    private struct Sniffed {
        var train: [(at: Int64, frame: RadioFrame)] = []
        var responses: [(at: Int64, frame: RadioFrame)] = []
    }

    private func sniff(_ scene: Scene, for time: Duration, _ body: () -> Void = {}) throws -> Sniffed {
        var sniffed = Sniffed()
        let own = try #require(scene.own)
        let rspAA = try #require(own.responses).accessAddress
        scene.world.sniff {
            let entry = ($0.start.microseconds, $0.frame)
            if $0.frame.accessAddress == own.accessAddress { sniffed.train.append(entry) }
            if $0.frame.accessAddress == rspAA { sniffed.responses.append(entry) }
        }
        body()
        scene.world.run(time)
        scene.world.sniff { _ in }
        return sniffed
    }

    // The sample: subevents at 0, 20, 40 and 60 ms of every 100 ms, each on the channel selected by its event counter
    // and its number.
    @Test func subeventsKeepTheirTimesAndTheirChannels() throws {
        let scene = try Scene()
        #expect(scene.train.timing == .sample)
        #expect(scene.train.v1.status == .success)
        #expect(scene.train.v1.interval == 80)
        let own = try #require(scene.own)
        let selection = ChannelSelection2(accessAddress: own.accessAddress)
        let (anchor, counter) = (own.anchor.microseconds, own.counter)
        let sniffed = try sniff(scene, for: .seconds(3))
        #expect((118...122).contains(sniffed.train.count))
        var seen = Set<Int64>()
        for (at, frame) in sniffed.train {
            let events = Int64((Double(at - anchor) / 100_000).rounded(.down))
            let offset = at - anchor - events * 100_000
            #expect(offset % 20_000 == 0)
            #expect(offset < 80_000)
            seen.insert(offset)
            let event = counter &+ UInt16(truncatingIfNeeded: events)
            // 4.5.8.3: the event counter XOR the subevent number.
            #expect(frame.channel == selection.channel(counter: event ^ UInt16(offset / 20_000), map: own.map))
            #expect(frame.crcInit == own.crcInit)
            guard case .extended(let body)? = try? AdvertisingPDU(reading: PacketBuffer(frame.pdu)) else {
                Issue.record("\(frame)")
                continue
            }
            #expect(body.data == [UInt8(offset / 20_000), 0xDA])
            #expect(body.extended.isEmpty)
            #expect(body.mode == .nonConnectable)
        }
        #expect(seen == [0, 20_000, 40_000, 60_000])
    }

    @Test func reportsRequireChosenSubevents() throws {
        let scene = try Scene()
        scene.world.run(.seconds(2))
        #expect(scene.listener.subeventReports.isEmpty)
        #expect(scene.listener.listen(to: scene.sync, [3, 1], on: scene.world) == .success)
        scene.world.run(.seconds(2))
        let reports = scene.listener.subeventReports
        #expect((38...41).contains(reports.count))
        #expect(reports.allSatisfy { $0.sync == scene.sync })
        #expect(reports.allSatisfy { $0.dataStatus == .complete && $0.data == [$0.periodicSubevent, 0xDA] })
        // Subevents alternate, and no event is missing.
        #expect(zip(reports, reports.dropFirst()).allSatisfy { $0.periodicSubevent != $1.periodicSubevent })
        let events = reports.filter { $0.periodicSubevent == 3 }.map(\.event)
        #expect(zip(events, events.dropFirst()).allSatisfy { $1 == $0 &+ 1 })
        #expect(events.count >= 19)
        let own = try #require(scene.own)
        #expect(own.counter &- (events.last ?? 0) <= 1)
        // Selects other subevents instead.
        #expect(scene.listener.listen(to: scene.sync, [2], on: scene.world) == .success)
        scene.world.run(.milliseconds(200))
        scene.listener.forget()
        scene.world.run(.seconds(1))
        #expect(Set(scene.listener.subeventReports.map(\.periodicSubevent)) == [2])
        #expect(scene.listener.send(LESetPeriodicAdvertisingReceiveEnable(sync: scene.sync, enable: [])) == .success)
        scene.listener.forget()
        scene.world.run(.seconds(3))
        #expect(scene.listener.subeventReports.isEmpty)
        #expect(scene.listener.events(LEPeriodicAdvertisingSyncLost.self).isEmpty)
    }

    @Test func missedSubeventsAreReported() throws {
        let scene = try Scene(data: { $0 == 1 ? nil : [7] })
        #expect(scene.listener.listen(to: scene.sync, [0, 1], on: scene.world) == .success)
        scene.world.run(.seconds(1))
        let lost = scene.listener.subeventReports.filter { $0.dataStatus == .lost }
        #expect(lost.count >= 9)
        #expect(lost.allSatisfy { $0.periodicSubevent == 1 && $0.data.isEmpty })
        #expect(scene.listener.subeventReports.filter { $0.dataStatus == .complete }.count >= 9)
    }

    @Test func eventsMayBeSkippedWithAllTheirSubevents() throws {
        let scene = try Scene(skip: 4)
        #expect(scene.listener.listen(to: scene.sync, [0, 2], on: scene.world) == .success)
        scene.world.run(.seconds(1))
        scene.listener.forget()
        scene.world.run(.seconds(10))
        let reports = scene.listener.subeventReports
        #expect((38...42).contains(reports.count))
        let events = reports.filter { $0.periodicSubevent == 2 }.map(\.event)
        #expect(zip(events, events.dropFirst()).allSatisfy { $1 == $0 &+ 5 })
    }

    // One received subevent is enough.
    @Test func eventsAreSkippedBehindOneOfWhichSomethingWasHeard() throws {
        let scene = try Scene(skip: 4, data: { $0 == 2 ? nil : [7] })
        #expect(scene.listener.listen(to: scene.sync, [0, 2], on: scene.world) == .success)
        scene.world.run(.seconds(5))
        let events = scene.listener.subeventReports.filter { $0.dataStatus == .complete }.map(\.event)
        #expect(events.count >= 9)
        #expect(zip(events, events.dropFirst()).allSatisfy { $1 == $0 &+ 5 })
    }

    @Test(arguments: [LEPHY.le1M, .le2M, .coded])
    func aResponseComesInItsSlotOnTheChannelOfItsSubevent(phy: LEPHY) throws {
        let timing = LESubeventTiming(subevents: 4, interval: 16, responseSlotDelay: 4, responseSlotSpacing: 30)
        let scene = try Scene(.sample(timing: timing, slots: 3), slots: 0..<3, phy: phy)
        #expect(scene.train.v1.phy == phy)
        let world = scene.world
        let sniffed = try sniff(scene, for: .seconds(2)) {
            let status = scene.listener.listen(to: scene.sync, [1, 2], on: world) { report in
                report.answer([0xAB, report.periodicSubevent], slot: report.periodicSubevent)
            }
            #expect(status == .success)
        }
        #expect(sniffed.responses.count >= 36)
        #expect(scene.listener.responded.allSatisfy { $0 == .success })
        for (at, frame) in sniffed.responses {
            guard let request = sniffed.train.last(where: { $0.at < at }) else { continue }
            #expect(frame.channel == request.frame.channel)
            #expect(frame.crcInit == request.frame.crcInit)
            guard case .extended(let body)? = try? AdvertisingPDU(reading: PacketBuffer(frame.pdu)) else { continue }
            #expect(body.data.count == 2)
            #expect(body.mode == .nonConnectable)
            // 5 ms, and 3.75 ms for each slot.
            #expect(at - request.at == 5_000 + Int64(body.data.last ?? 0) * 3_750)
        }
        let responses = scene.advertiser.responses
        // Empty slots are reported as well.
        for (subevent, response) in responses where subevent == 1 || subevent == 2 {
            guard response.slot == subevent else {
                #expect(response.dataStatus == .lost)
                #expect(response.rssi == 127)
                #expect(response.data.isEmpty)
                continue
            }
            if response.dataStatus == .complete {
                #expect(response.data == [0xAB, subevent])
                #expect(response.rssi < 0)
                #expect(response.txPower == 127)
                #expect(response.toneKind == 0xFF)
            }
        }
        #expect(responses.count { $0.response.dataStatus == .complete } >= 36)
        #expect(responses.allSatisfy { $0.response.slot < 3 })
        #expect(responses.count { $0.response.dataStatus == .lost } >= 160)
    }

    @Test func onlyTheSlotsThatTheHostNamedAreListenedTo() throws {
        let scene = try Scene(slots: 2..<3)
        let world = scene.world
        #expect(
            scene.listener.listen(to: scene.sync, [0, 1], on: world) { $0.answer([1], slot: $0.periodicSubevent + 1) }
                == .success
        )
        world.run(.seconds(2))
        let responses = scene.advertiser.responses
        #expect(Set(responses.map(\.response.slot)) == [2])
        #expect(Set(responses.filter { $0.response.dataStatus == .complete }.map(\.subevent)) == [1])
    }

    @Test func aSubeventWithoutSlotsIsNotReported() throws {
        let scene = try Scene(slots: 0..<0)
        scene.world.run(.seconds(1))
        #expect(scene.advertiser.events(LEPeriodicAdvertisingResponseReport.self).isEmpty)
    }

    // 7.8.126: in a later subevent of the same event, or in an earlier one of the next.
    @Test(arguments: [(0, 3, 60_000), (2, 1, 80_000)] as [(UInt8, UInt8, Int64)])
    func aResponseMayBeInAnotherSubevent(request: UInt8, response: UInt8, distance: Int64) throws {
        let scene = try Scene()
        let world = scene.world
        let sniffed = try sniff(scene, for: .seconds(2)) {
            let status = scene.listener.listen(to: scene.sync, [request], on: world) {
                $0.answer([5], slot: 1, in: response)
            }
            #expect(status == .success)
        }
        #expect(sniffed.responses.count >= 17)
        let heard = scene.advertiser.responses.filter { $0.response.dataStatus == .complete }
        #expect(heard.count >= 17)
        #expect(heard.allSatisfy { $0.subevent == response && $0.response.slot == 1 })
        let reports = scene.listener.packets.compactMap { entry in
            (try? EventPacket(reading: entry.packet.bytes))?.subevent == LEPeriodicAdvertisingReportV2.subevent
                ? entry.at.microseconds : nil
        }
        for (at, _) in sniffed.responses {
            guard let report = reports.last(where: { $0 < at - distance + 3_000 }) else { continue }
            // The slot begins 7.5 ms after its subevent, and the report comes less than a millisecond after its own
            // subevent.
            #expect((distance + 6_500...distance + 7_500).contains(at - report))
        }
    }

    @Test func longDataComeInPieces() throws {
        let timing = LESubeventTiming(subevents: 2, interval: 30, responseSlotDelay: 4, responseSlotSpacing: 40)
        let scene = try Scene(.sample(timing: timing, slots: 4), data: { _ in sampleData(249) })
        let world = scene.world
        #expect(scene.listener.listen(to: scene.sync, [1], on: world) == .success)
        world.run(.seconds(1))
        let pieces = scene.listener.subeventReports
        #expect(Set(pieces.map(\.data.count)) == [244, 5])
        #expect(pieces.count >= 18)
        #expect(pieces.filter { $0.data.count == 244 }.allSatisfy { $0.dataStatus == .moreToCome })
        var whole = pieces[0].data
        whole.append(contentsOf: pieces[1].data)
        #expect(whole == sampleData(249) && pieces[0].event == pieces[1].event)
        let last = try #require(pieces.last)
        let answer = LESetPeriodicAdvertisingResponseData {
            $0.sync = scene.sync
            $0.requestEvent = last.event
            $0.requestSubevent = 1
            $0.responseSubevent = 1
            $0.slot = 2
            $0.data = sampleData(247)
        }
        scene.advertiser.forget()
        // It is too late for the last received event, but not for the next.
        var next = answer
        next.requestEvent &+= 1
        #expect(scene.listener.send(next) == .success)
        world.run(.milliseconds(300))
        let heard = scene.advertiser.responses.map(\.response).filter { $0.dataStatus != .lost }
        #expect(heard.map(\.data.count) == [244, 3])
        #expect(heard.map(\.dataStatus) == [.moreToCome, .complete])
        #expect(heard.allSatisfy { $0.slot == 2 })
    }

    @Test func powersAreTold() throws {
        let scene = try Scene(.sample(properties: .includeTxPower))
        let world = scene.world
        let status = scene.listener.listen(to: scene.sync, [0], properties: .includeTxPower, on: world) {
            $0.answer([], slot: 0)
        }
        #expect(status == .success)
        world.run(.seconds(1))
        #expect(scene.listener.subeventReports.contains { $0.txPower == 0 })
        let heard = scene.advertiser.responses.filter { $0.response.dataStatus == .complete }
        #expect(heard.count >= 8)
        #expect(heard.allSatisfy { $0.response.txPower == 0 && $0.response.data.isEmpty })
    }

    // 7.7.65.36: as many as there are buffers for, then one for each subevent that ends; 7.8.125: data are sent once.
    @Test(arguments: [(4, 4), (20, 15)] as [(UInt8, UInt8)])
    func dataAreAskedForAheadAndSentOnce(subevents: UInt8, ahead: UInt8) throws {
        let world = LinkLayerWorld()
        let advertiser = world.host()
        advertiser.unmask(TestHost.newestForms)
        let timing = LESubeventTiming(subevents: subevents, interval: 6, responseSlotDelay: 0, responseSlotSpacing: 0)
        advertiser.prepare()
        #expect(
            advertiser.send(LESetPeriodicAdvertisingParametersV2.sample(interval: 200, timing: timing, slots: 0))
                == .success
        )
        #expect(advertiser.send(LESetPeriodicAdvertisingEnable(enable: .enable, set: 0)) == .success)
        advertiser.enable([(0, 0, 0)])
        var requests: [LEPeriodicAdvertisingSubeventDataRequest] { advertiser.events() }
        #expect(requests == [.init(set: 0, first: 0, count: ahead)])
        let data = LESetPeriodicAdvertisingSubeventData(
            set: 0,
            subevents: [.init(subevent: 2, firstSlot: 0, slots: 0, data: [1, 2])]
        )
        #expect(advertiser.send(data) == .success)
        var sent = 0
        let train = try #require(advertiser.controller.trains[0])
        world.sniff { if $0.frame.accessAddress == train.accessAddress { sent += 1 } }
        world.run(.milliseconds(1_001))
        #expect(sent == 1)
        let others = requests.dropFirst()
        #expect(others.allSatisfy { $0.count == 1 })
        #expect(zip(others, 0...).allSatisfy { Int($0.first) == ($1 + Int(ahead)) % Int(subevents) })
        #expect((Int(subevents) * 3...Int(subevents) * 4).contains(others.count))
    }

    @Test func dataThatWereNotSentEndWithTheTrain() throws {
        let world = LinkLayerWorld()
        let advertiser = world.host()
        advertiser.prepare()
        advertiser.send(LESetPeriodicAdvertisingParametersV2.sample())
        advertiser.send(LESetPeriodicAdvertisingEnable(enable: .enable, set: 0))
        advertiser.enable([(0, 0, 0)])
        let data = LESetPeriodicAdvertisingSubeventData(
            set: 0,
            subevents: [.init(subevent: 1, firstSlot: 0, slots: 0, data: [1, 2])]
        )
        #expect(advertiser.send(data) == .success)
        for enable in [[], .enable] as [LEPeriodicEnable] {
            #expect(advertiser.send(LESetPeriodicAdvertisingEnable(enable: enable, set: 0)) == .success)
        }
        let train = try #require(advertiser.controller.trains[0])
        var sent = 0
        world.sniff { if $0.frame.accessAddress == train.accessAddress { sent += 1 } }
        world.run(.seconds(1))
        #expect(sent == 0)
        #expect(train.isRunning)
    }

    // Whatever the listener is doing, reports name the subevent in which the data were received.
    @Test func theHostMayChooseAtAnyTime() throws {
        let scene = try Scene()
        for step in 0..<60 {
            let subevents = [UInt8(step % 4), UInt8((step + 2) % 4)]
            #expect(scene.listener.listen(to: scene.sync, subevents, on: scene.world) == .success)
            scene.world.run(.microseconds(20_000 + Int64(step) * 333))
        }
        let reports = scene.listener.subeventReports.filter { $0.dataStatus == .complete }
        #expect(reports.count >= 20)
        #expect(reports.allSatisfy { $0.data == [$0.periodicSubevent, 0xDA] })
        // Also in the middle of a subevent.
        let (world, listener, sync) = (scene.world, scene.listener, scene.sync)
        var next: UInt8 = 0
        world.sniff { frame in
            guard frame.frame.pdu.count == 5 else { return }
            next = (next + 1) % 4
            world.loop.schedule(after: .microseconds(40)) {
                listener.send(LESetPeriodicSyncSubevent(sync: sync, subevents: [next]))
            }
        }
        listener.forget()
        world.run(.seconds(10))
        #expect(listener.events(LEPeriodicAdvertisingSyncLost.self).isEmpty)
        let heard = listener.subeventReports.filter { $0.dataStatus == .complete }
        #expect(heard.count >= 20)
        #expect(heard.allSatisfy { $0.data == [$0.periodicSubevent, 0xDA] })
    }

    @Test func theTrainIsLostAfterItsTime() throws {
        let scene = try Scene()
        #expect(scene.listener.listen(to: scene.sync, [1], on: scene.world) == .success)
        scene.world.run(.seconds(1))
        scene.advertiser.send(LESetPeriodicAdvertisingEnable(enable: [], set: 0))
        let end = scene.world.loop.now
        let listener = scene.listener
        #expect(scene.world.run(upTo: .seconds(5)) { !listener.events(LEPeriodicAdvertisingSyncLost.self).isEmpty })
        #expect((.milliseconds(1_890)...(.milliseconds(2_010))).contains(scene.world.loop.now - end))
    }

    @Test func listenersWithoutResponsesFollowTheFirstSubevent() throws {
        let world = LinkLayerWorld()
        let (advertiser, listener) = (world.host(), world.host(at: 1) { $0.features.remove(.periodicResponsesScanner) })
        advertiser.advertiseResponsively(on: world)
        listener.scanExtended()
        listener.synchronize(to: advertiser.address)
        world.run(.seconds(3))
        #expect(listener.trains.map(\.status) == [.success])
        #expect(listener.periodicReports.count >= 20)
        #expect(listener.periodicReports.allSatisfy { $0.data == [0, 0xDA] })
    }

    // Trains with invalid timing are not followed.
    @Test(arguments: [
        LESubeventTiming(subevents: 0, interval: 16, responseSlotDelay: 4, responseSlotSpacing: 20),
        .init(subevents: 129, interval: 6, responseSlotDelay: 4, responseSlotSpacing: 20),
        .init(subevents: 1, interval: 5, responseSlotDelay: 4, responseSlotSpacing: 20),
        .init(subevents: 6, interval: 16, responseSlotDelay: 4, responseSlotSpacing: 20),
        .init(subevents: 4, interval: 16, responseSlotDelay: 16, responseSlotSpacing: 20),
        .init(subevents: 4, interval: 16, responseSlotDelay: 4, responseSlotSpacing: 1),
    ])
    func hostileTimingIsNotFollowed(timing: LESubeventTiming) throws {
        let (world, advertiser, listener) = LinkLayerWorld.withTwoHosts()
        advertiser.advertiseResponsively(on: world)
        let own = try #require(advertiser.controller.trains[0]?.responses)
        let good = own.controllerData.bytes
        let bad = ResponseTiming(accessAddress: own.accessAddress, timing: timing).controllerData.bytes
        world.radio.onSend = { frame in
            guard let range = frame.pdu.firstRange(of: good) else { return }
            frame.pdu.replaceSubrange(range, with: bad)
        }
        listener.unmask(TestHost.newestForms)
        listener.scanExtended()
        listener.synchronize(to: advertiser.address)
        world.run(.seconds(2))
        #expect(listener.newTrains.isEmpty)
        #expect(listener.controller.synchronizer.count == 0)
        world.radio.onSend = nil
        world.run(.seconds(2))
        #expect(listener.newTrains.map(\.v1.status) == [.success])
    }

    @Test func losses() throws {
        let world = LinkLayerWorld { $0.lossRate = 0.2 }
        let scene = try Scene(world: world)
        #expect(scene.listener.listen(to: scene.sync, [0, 2], on: world) { $0.answer([9], slot: 3) } == .success)
        world.run(.seconds(20))
        #expect(scene.listener.events(LEPeriodicAdvertisingSyncLost.self).isEmpty)
        #expect(scene.listener.subeventReports.contains { $0.dataStatus == .lost })
        let responses = scene.advertiser.responses.map(\.response).filter { $0.slot == 3 }
        #expect(responses.contains { $0.dataStatus == .lost })
        #expect(responses.count { $0.dataStatus == .complete && $0.data == [9] } >= 200)
    }

    // MARK: Invalid responses

    @Test func responsesThatCannotBeAreRefused() throws {
        let timing = LESubeventTiming(subevents: 4, interval: 16, responseSlotDelay: 4, responseSlotSpacing: 10)
        let scene = try Scene(.sample(timing: timing))
        let listener = scene.listener
        let early = LEPeriodicAdvertisingReportV2(.init(), event: 0, subevent: 0).answer([1], slot: 0)
        #expect(listener.send(early) == .unknownAdvertisingIdentifier)
        var answer = early
        answer.sync = scene.sync
        // No subevents have been selected.
        #expect(listener.send(answer) == .commandDisallowed)
        #expect(listener.listen(to: scene.sync, [1], on: scene.world) == .success)
        #expect(scene.world.run(upTo: .seconds(2)) { !listener.subeventReports.isEmpty })
        let report = try #require(listener.subeventReports.first)
        func refused(_ status: HCIStatus, _ change: (inout LESetPeriodicAdvertisingResponseData) -> Void) {
            var answer = report.answer([1], slot: 2)
            change(&answer)
            #expect(listener.send(answer) == status, "\(answer)")
        }
        refused(.success) { _ in }
        refused(.commandDisallowed) { $0.requestSubevent = 0 }
        refused(.invalidParameters) { $0.responseSubevent = 4 }
        // 5 ms, and 1.25 ms for each slot: twelve slots fill the 20 ms.
        refused(.success) { $0.slot = 11 }
        refused(.invalidParameters) { $0.slot = 12 }
        // 1,250 µs less 150; each octet takes 8 µs, and eleven octets surround the data.
        refused(.success) { $0.data = sampleData(126) }
        refused(.packetTooLong) { $0.data = sampleData(127) }
        refused(.tooLate) { $0.requestEvent &-= 1 }
        refused(.invalidParameters) { $0.requestEvent &+= 3 }
        refused(.invalidParameters) { $0.requestEvent &+= 0x7000 }
        scene.world.run(.milliseconds(20))
        refused(.tooLate) { _ in }
    }

    @Test func waitingResponsesAreBounded() throws {
        let timing = LESubeventTiming(subevents: 4, interval: 16, responseSlotDelay: 4, responseSlotSpacing: 2)
        let scene = try Scene(.sample(timing: timing, slots: 40), slots: 0..<40)
        let listener = scene.listener
        #expect(listener.listen(to: scene.sync, [0], on: scene.world) == .success)
        #expect(scene.world.run(upTo: .seconds(2)) { !listener.subeventReports.isEmpty })
        let report = try #require(listener.subeventReports.first)
        for slot in 0..<16 as Range<UInt8> {
            #expect(listener.send(report.answer([], slot: slot + 1, in: 3)) == .success)
        }
        #expect(listener.send(report.answer([], slot: 30, in: 3)) == .memoryCapacityExceeded)
        // A second response for the same slot replaces the first.
        #expect(listener.send(report.answer([], slot: 5, in: 3)) == .success)
        scene.world.run(.milliseconds(100))
        let heard = scene.advertiser.responses.filter { $0.response.dataStatus == .complete }
        #expect(heard.map(\.response.slot) == Array(1...16))
        #expect(heard.allSatisfy { $0.subevent == 3 })
        // All 40 slots of the subevent in as few events as possible.
        let reports = scene.advertiser.events(LEPeriodicAdvertisingResponseReport.self)
        #expect(reports.allSatisfy { 5 + $0.encoded().count <= 260 })
    }

    // Core Vol 4 Part E 5.4.4: an event has at most 255 octets, one of which is the subevent code.
    @Test func responsesShareEventsAsFarAsThereIsRoom() {
        for last in 110...130 {
            let responses = [240, 119, last].enumerated().map { index, count in
                var response = LEPeriodicResponse(slot: UInt8(index))
                (response.dataStatus, response.data) = (.complete, sampleData(count))
                return response
            }
            let reports = LEPeriodicAdvertisingResponseReport.reports(set: 1, subevent: 2, responses)
            let sizes = reports.map { $0.responses.reduce(4) { $0 + 6 + $1.data.count } }
            #expect(sizes.allSatisfy { $0 <= 254 } && reports.flatMap(\.responses) == responses, "\(sizes)")
            #expect(reports.count == (last <= 119 ? 2 : 3))
        }
    }

    // A command's data are accepted as a whole or not at all.
    @Test func dataOfSeveralSubeventsAreTakenTogether() throws {
        let scene = try Scene()
        let own = try #require(scene.own)
        let before = own.subeventData.mapValues(\.data)
        let subevents = [1, 9].map { LESubeventData(subevent: $0, firstSlot: 0, slots: 4, data: [7, 7]) }
        let command = LESetPeriodicAdvertisingSubeventData(set: 0, subevents: subevents)
        #expect(scene.advertiser.send(command) == .invalidParameters)
        #expect(own.subeventData.mapValues(\.data) == before)
    }

    @Test func subeventsThatCannotBeAreRefused() throws {
        let scene = try Scene()
        func choose(_ subevents: [UInt8], sync: UInt16? = nil) -> HCIStatus {
            scene.listener.send(LESetPeriodicSyncSubevent(sync: sync ?? scene.sync, subevents: PacketBuffer(subevents)))
        }
        #expect(choose([]) == .invalidParameters)
        #expect(choose([4]) == .invalidParameters)
        #expect(choose([1, 1]) == .invalidParameters)
        #expect(choose([0, 1, 2, 3]) == .success)
        #expect(choose([0], sync: 0x0EFF) == .unknownAdvertisingIdentifier)
    }

    @Test func aTrainWithoutResponsesHasNoSubevents() throws {
        let (world, advertiser, listener) = LinkLayerWorld.withTwoHosts()
        advertiser.advertisePeriodically()
        listener.unmask(TestHost.newestForms)
        listener.scanExtended()
        listener.synchronize(to: advertiser.address)
        world.run(.seconds(2))
        let train = try #require(listener.newTrains.first)
        #expect(train.timing == LESubeventTiming())
        #expect(listener.subeventReports.count >= 9)
        #expect(listener.subeventReports.allSatisfy { $0.periodicSubevent == 0xFF && $0.data == sampleData(20) })
        #expect(listener.send(LESetPeriodicSyncSubevent(sync: train.v1.sync, subevents: [0])) == .commandDisallowed)
        let answer = LESetPeriodicAdvertisingResponseData {
            $0.sync = train.v1.sync
            $0.requestEvent = 0
            $0.requestSubevent = 0
            $0.responseSubevent = 0
            $0.slot = 0
            $0.data = []
        }
        #expect(listener.send(answer) == .commandDisallowed)
    }
}

// Core Vol 4 Part E 7.8.61, 7.8.62, 7.8.125.
private func timing(_ change: (inout LESubeventTiming) -> Void) -> LESetPeriodicAdvertisingParametersV2 {
    var timing = LESubeventTiming.sample
    change(&timing)
    return .sample(timing: timing)
}

private func data(_ subevents: LESubeventData...) -> LESetPeriodicAdvertisingSubeventData {
    .init(set: 0, subevents: subevents)
}

private func data(_ subevents: [LESubeventData]) -> LESetPeriodicAdvertisingSubeventData {
    .init(set: 0, subevents: subevents)
}

private func subevent(_ number: UInt8, _ first: UInt8 = 0, _ slots: UInt8 = 4, octets: Int = 2) -> LESubeventData {
    .init(subevent: number, firstSlot: first, slots: slots, data: sampleData(octets))
}

private let prepared: @Sendable (TestHost) -> Void = {
    $0.prepare()
    $0.send(LESetPeriodicAdvertisingParametersV2.sample())
}

private let plain: @Sendable (TestHost) -> Void = { $0.advertisePeriodically() }

private let cases: [CommandCase] = [
    CommandCase("parameters of no set", .unknownAdvertisingIdentifier, timing { _ in }),
    .accepted("parameters", timing { _ in }) { $0.prepare() },
    .invalid("connectable", timing { _ in }) { $0.prepare(.connectable) },
    CommandCase("parameters of a train", .commandDisallowed, timing { _ in }, after: plain),
    .accepted(
        "no subevents",
        timing { $0 = .init(subevents: 0, interval: 1, responseSlotDelay: 9, responseSlotSpacing: 0) }
    ) {
        $0.prepare()
    },
    .invalid("129 subevents", timing { $0.subevents = 129 }) { $0.prepare() },
    .accepted("five subevents", timing { $0.subevents = 5 }) { $0.prepare() },
    .invalid("subevents longer than the event", timing { $0.subevents = 6 }) { $0.prepare() },
    .invalid("short subevents", timing { $0.interval = 5 }) { $0.prepare() },
    .invalid("slots behind the subevent", timing { $0.responseSlotDelay = 16 }) { $0.prepare() },
    .invalid("slots at once", timing { $0.responseSlotDelay = 0 }) { $0.prepare() },
    .invalid("short slots", timing { $0.responseSlotSpacing = 1 }) { $0.prepare() },
    // The 15 ms after the delay have space for four slots of 3.75 ms.
    .accepted("four slots", timing { $0.responseSlotSpacing = 30 }) { $0.prepare() },
    .invalid("too many slots", timing { $0.responseSlotSpacing = 31 }) { $0.prepare() },
    .accepted(
        "no slots",
        LESetPeriodicAdvertisingParametersV2.sample(
            timing: {
                var timing = LESubeventTiming.sample
                (timing.responseSlotDelay, timing.responseSlotSpacing) = (0xFF, 1)
                return timing
            }(),
            slots: 0
        )
    ) { $0.prepare() },
    CommandCase("data of no set", .unknownAdvertisingIdentifier, data(subevent(0))),
    .disallowed("data without parameters", data(subevent(0))) { $0.prepare() },
    CommandCase("data without subevents", .commandDisallowed, data(subevent(0)), after: plain),
    CommandCase("data", .success, data(subevent(0), subevent(3, 3, 1)), after: prepared),
    CommandCase("no data", .success, data(subevent(0, 0, 0, octets: 0)), after: prepared),
    CommandCase("data of nothing", .invalidParameters, data(), after: prepared),
    CommandCase("data of 16", .invalidParameters, data((0..<16).map { subevent($0 % 4) }), after: prepared),
    CommandCase("data of a fifth", .invalidParameters, data(subevent(0), subevent(4)), after: prepared),
    CommandCase("a fifth slot", .invalidParameters, data(subevent(0, 1, 4)), after: prepared),
    CommandCase("a slot far away", .invalidParameters, data(subevent(0, 255, 255)), after: prepared),
    // 240 octets take 2 ms on 1M, where 5 ms are available; on the coded PHY they take 16 ms.
    CommandCase("long data", .success, data(subevent(0, octets: 240)), after: prepared),
    CommandCase("longer than the delay", .packetTooLong, data(subevent(0, octets: 240))) {
        $0.prepare { $0.secondaryPHY = .coded }
        $0.send(LESetPeriodicAdvertisingParametersV2.sample())
        $0.send(LESetPeriodicAdvertisingEnable(enable: .enable, set: 0))
        $0.enable([(0, 0, 0)])
    },
    CommandCase(
        "data of the train",
        .commandDisallowed,
        LESetPeriodicAdvertisingData(set: 0, operation: .complete, data: [1]),
        after: prepared
    ),
    CommandCase("a train", .success, LESetPeriodicAdvertisingEnable(enable: .enable, set: 0), after: prepared),
]

@Suite struct PeriodicResponseCommandTests {
    @Test(arguments: cases) func answers(each: CommandCase) { each.check() }
}
