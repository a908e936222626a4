import BluetoothTypes
import EventLoops
import HCI
import Testing

@testable import LinkLayer

/// Connections from trains with responses (Core Vol 6 Part B 4.4.2.12; Vol 4 Part E 7.8.66), and transfer of such
/// trains.
@Suite struct TrainConnectionTests {
    private struct Scene {
        let world = LinkLayerWorld()
        let advertiser: TestHost
        let listener: TestHost
        let sync: UInt16

        init(phy: LEPHY = .le1M, set: UInt8 = 0, subevents: [UInt8] = [2], octets: Int = 2) throws {
            (advertiser, listener) = (world.host(), world.host(at: 1))
            let data = sampleData(octets)
            let status = advertiser.advertiseResponsively(
                .sample(set: set),
                on: world,
                { $0.secondaryPHY = phy },
                data: { _ in data }
            )
            #expect(status == .success)
            listener.unmask(TestHost.newestForms)
            listener.scanExtended()
            #expect(listener.synchronize(to: advertiser.address, timeout: 200) == .success)
            let listener = listener
            #expect(world.run(upTo: .seconds(10)) { !listener.newTrains.isEmpty })
            sync = try #require(listener.newTrains.first).v1.sync
            listener.send(
                LESetExtendedScanEnable(isEnabled: false, filterDuplicates: .disabled, duration: 0, period: 0)
            )
            #expect(listener.listen(to: sync, subevents, on: world) == .success)
            world.run(.milliseconds(200))
        }

        func connect(
            to peer: BluetoothAddress? = nil,
            set: UInt8 = 0,
            subevent: UInt8 = 2,
            _ change: (inout LEExtendedCreateConnection) -> Void = { _ in }
        ) -> HCIStatus {
            var command = LEExtendedCreateConnectionV2()
            (command.set, command.periodicSubevent) = (set, subevent)
            command.v1.peerAddress = peer ?? listener.address
            command.v1.le1M = .standard
            change(&command.v1)
            return advertiser.send(command)
        }
    }

    @Test(arguments: [LEPHY.le1M, .le2M, .coded])
    func aSubeventMakesAConnection(phy: LEPHY) throws {
        let scene = try Scene(phy: phy, set: 5)
        let train = try #require(scene.advertiser.controller.trains[5])
        var frames: [(start: Int64, end: Int64, channel: UInt8, kind: UInt8)] = []
        scene.world.sniff {
            guard $0.frame.accessAddress == train.accessAddress else { return }
            let start = $0.start.microseconds
            frames.append((start, start + $0.frame.airTimeMicroseconds, $0.frame.channel, $0.frame.pdu[0] & 0x0F))
        }
        #expect(scene.connect(set: 5) == .success)
        scene.world.run(.seconds(1))
        let central = try #require(scene.advertiser.newConnections.first)
        let peripheral = try #require(scene.listener.newConnections.first)
        #expect(central.v1.status == .success)
        #expect(central.v1.role == .central)
        #expect(central.v1.peerAddress == scene.listener.address)
        #expect(central.set == 5)
        #expect(central.syncHandle == 0xFFFF)
        #expect(central.v1.interval == 24)
        #expect(peripheral.v1.status == .success)
        #expect(peripheral.v1.role == .peripheral)
        #expect(peripheral.v1.peerAddress == scene.advertiser.address)
        #expect(peripheral.set == 0xFF)
        #expect(peripheral.syncHandle == scene.sync)
        #expect(scene.advertiser.newConnections.count == 1)
        #expect(scene.listener.newConnections.count == 1)
        // AUX_CONNECT_REQ takes the place of the third subevent; AUX_CONNECT_RSP follows on the same channel.
        let index = try #require(frames.firstIndex { $0.kind == 5 })
        let (request, answer) = (frames[index], frames[index + 1])
        #expect(answer.kind == 8)
        #expect(answer.channel == request.channel)
        #expect(answer.start - request.end == 150)
        let offset = (request.start - train.anchor.microseconds) % 100_000
        #expect((offset + 100_000) % 100_000 == 40_000)
        #expect(frames.filter { $0.kind == 5 }.count == 1)
        // The link carries data, and the train goes on.
        var heard: [PacketBuffer] = []
        scene.listener.onData = { heard.append($0.payload) }
        scene.advertiser.send([3, 0, 4, 0, 1, 2, 3], on: central.v1.handle)
        scene.listener.forget()
        scene.world.run(.seconds(3))
        #expect(heard == [[3, 0, 4, 0, 1, 2, 3]])
        let link = try #require(scene.advertiser.controller.link(central.v1.handle))
        #expect(link.control.txPHY == phy)
        #expect(scene.listener.subeventReports.count { $0.dataStatus == .complete } >= 20)
        #expect(scene.listener.events(DisconnectionComplete.self).isEmpty)
    }

    // Radio time lost to the link is reported: a subevent that was not sent, or slots that were not received.
    @Test func aLinkTakesTheRadioFromTheTrain() throws {
        // Subevents of 1.7 ms, and connection events every 31.25 ms, so that they collide.
        let scene = try Scene(octets: 200)
        let status = scene.connect {
            $0.le1M?.intervalMin = 25
            $0.le1M?.intervalMax = 25
        }
        #expect(status == .success)
        scene.world.run(.seconds(1))
        #expect(scene.advertiser.newConnections.first?.v1.status == .success)
        scene.advertiser.forget()
        scene.world.run(.seconds(10))
        let reports = scene.advertiser.events(LEPeriodicAdvertisingResponseReport.self)
        let (left, sent) = (reports.filter(\.wasLeftOut), reports.filter { !$0.wasLeftOut })
        #expect(!left.isEmpty && left.allSatisfy { $0.responses.isEmpty }, "\(reports.count)")
        // Every slot of every subevent, received or not.
        #expect(sent.count > 100)
        #expect(sent.allSatisfy { $0.responses.map(\.slot) == [0, 1, 2, 3] })
        #expect(left.count + sent.count >= 390, "\(left.count), \(sent.count)")
    }

    // One request is sent: without a response there is no connection.
    @Test func absentDevicesAreNotConnected() throws {
        let scene = try Scene()
        let nobody = BluetoothAddress(0x1234, kind: .publicDevice)
        #expect(scene.connect(to: nobody) == .success)
        #expect(scene.connect(to: nobody) == .commandDisallowed)
        #expect(scene.advertiser.connectExtended(to: nobody) == .commandDisallowed)
        scene.world.run(.seconds(1))
        let event = try #require(scene.advertiser.newConnections.first)
        #expect(event.v1.status == .connectionFailedToBeEstablished)
        #expect(event.set == 0)
        #expect(event.v1.role == .central)
        #expect(event.v1.peerAddress == nobody)
        #expect(scene.advertiser.newConnections.count == 1)
        #expect(scene.listener.newConnections.isEmpty)
        #expect(scene.listener.controller.links.isEmpty)
        // The next request succeeds.
        #expect(scene.connect() == .success)
        scene.world.run(.seconds(1))
        #expect(scene.advertiser.newConnections.last?.v1.status == .success)
        #expect(scene.connect() == .connectionAlreadyExists)
    }

    @Test func listenersOfOtherSubeventsAreNotConnected() throws {
        let scene = try Scene(subevents: [1])
        #expect(scene.connect(subevent: 3) == .success)
        scene.world.run(.seconds(1))
        #expect(scene.advertiser.newConnections.map(\.v1.status) == [.connectionFailedToBeEstablished])
    }

    @Test func aRandomAddressIsMeantToo() throws {
        let scene = try Scene()
        let random = BluetoothAddress(0xC123_4567_89AB, kind: .randomDevice)
        #expect(scene.listener.send(LESetRandomAddress(address: random)) == .success)
        #expect(scene.connect(to: random) == .success)
        scene.world.run(.seconds(1))
        #expect(scene.advertiser.newConnections.map(\.v1.status) == [.success])
        #expect(scene.listener.newConnections.map(\.v1.status) == [.success])
    }

    // AB-L03: a connection with impossible parameters is not begun.
    @Test func aRequestThatCannotBeIsNotAnswered() throws {
        let scene = try Scene()
        scene.world.radio.onSend = { frame in
            guard frame.pdu[0] & 0x0F == 5 else { return }
            // hop, in the last octet of LLData.
            frame.pdu[frame.pdu.count - 1] &= 0xE0
        }
        #expect(scene.connect() == .success)
        scene.world.run(.seconds(1))
        #expect(scene.advertiser.newConnections.map(\.v1.status) == [.connectionFailedToBeEstablished])
        #expect(scene.listener.newConnections.isEmpty)
    }

    @Test func aWishIsCancelled() throws {
        let scene = try Scene()
        #expect(scene.connect() == .success)
        #expect(scene.advertiser.send(LECreateConnectionCancel()) == .success)
        #expect(scene.advertiser.newConnections.map(\.v1.status) == [.unknownConnection])
        #expect(scene.advertiser.newConnections.map(\.set) == [0])
        #expect(scene.advertiser.send(LECreateConnectionCancel()) == .commandDisallowed)
        scene.world.run(.seconds(1))
        #expect(scene.listener.newConnections.isEmpty)
        // It also ends with the train.
        #expect(scene.connect() == .success)
        scene.advertiser.send(LESetPeriodicAdvertisingEnable(enable: [], set: 0))
        #expect(scene.advertiser.newConnections.last?.v1.status == .connectionFailedToBeEstablished)
    }

    @Test func wishesThatCannotBeAreRefused() throws {
        let scene = try Scene()
        #expect(scene.connect(set: 1) == .unknownAdvertisingIdentifier)
        #expect(scene.connect(subevent: 4) == .invalidParameters)
        #expect(scene.connect(subevent: 0xFF) == .invalidParameters)
        #expect(scene.connect(set: 0xFF, subevent: 2) == .unknownAdvertisingIdentifier)
        #expect(scene.connect { $0.le1M?.intervalMax = 5 } == .invalidParameters)
        #expect(scene.connect { $0.peerAddress.kind = .init(rawValue: 9) } == .invalidParameters)
        #expect(scene.connect { $0.ownAddressKind = .init(rawValue: 9) } == .invalidParameters)
        #expect(scene.connect { $0.ownAddressKind = .randomDevice } == .invalidParameters)
        scene.advertiser.advertisePeriodically(set: 2)
        #expect(scene.connect(set: 2) == .commandDisallowed)
        // Neither a set nor a subevent: as in version 1.
        #expect(scene.connect(set: 0xFF, subevent: 0xFF) { $0.le1M?.scanWindow = 3 } == .invalidParameters)
        var command = LEExtendedCreateConnectionV2()
        (command.set, command.periodicSubevent) = (0xFF, 0xFF)
        (command.v1.peerAddress, command.v1.le1M) = (scene.listener.address, .standard)
        #expect(scene.advertiser.send(command) == .success)
        #expect(scene.connect() == .commandDisallowed)
    }

    // MARK: Transfer

    /// A link from a train: one end follows another train that the other end transfers to it.
    @Test(arguments: [true, false], [true, false])
    func aTrainWithResponsesIsTransferred(tellerIsCentral: Bool, isOwn: Bool) throws {
        let scene = try Scene()
        let third = scene.world.host(at: 2)
        #expect(scene.connect() == .success)
        scene.world.run(.seconds(1))
        let central = (scene.advertiser, try #require(scene.advertiser.newConnections.first).v1.handle)
        let peripheral = (scene.listener, try #require(scene.listener.newConnections.first).v1.handle)
        let (teller, hearer) = tellerIsCentral ? (central, peripheral) : (peripheral, central)
        for (host, handle) in [central, peripheral] {
            host.send(LEReadRemoteFeatures(handle: handle))
            scene.world.run(.milliseconds(300))
        }
        let timing = LESubeventTiming(subevents: 3, interval: 20, responseSlotDelay: 8, responseSlotSpacing: 16)
        let source = isOwn ? teller.0 : third
        #expect(
            source.advertiseResponsively(.sample(set: 7, interval: 100, timing: timing), on: scene.world) { $0.sid = 9 }
                == .success
        )
        let rules = LESetPeriodicAdvertisingSyncTransferParameters(
            handle: hearer.1,
            .init(mode: .reports, skip: 0, timeout: 200, toneKinds: 0)
        )
        #expect(hearer.0.send(rules) == .success)
        if isOwn {
            scene.world.run(.milliseconds(300))
            let command = LEPeriodicAdvertisingSetInfoTransfer(handle: teller.1, serviceData: 0x77, set: 7)
            #expect(teller.0.send(command) == .success)
        } else {
            teller.0.scanExtended()
            teller.0.forget()
            #expect(teller.0.synchronize(to: third.address, sid: 9, timeout: 200) == .success)
            #expect(scene.world.run(upTo: .seconds(10)) { !teller.0.newTrains.isEmpty })
            let sync = try #require(teller.0.newTrains.first).v1.sync
            let command = LEPeriodicAdvertisingSyncTransfer(handle: teller.1, serviceData: 0x77, sync: sync)
            #expect(teller.0.send(command) == .success)
        }
        scene.world.run(.seconds(2))
        let told = try #require(hearer.0.events(LEPeriodicAdvertisingSyncTransferReceivedV2.self).first)
        #expect(told.v1.status == .success)
        #expect(told.timing == timing)
        #expect(told.v1.serviceData == 0x77)
        #expect(told.v1.address == source.address)
        #expect(told.v1.interval == 100)
        #expect(told.v1.handle == hearer.1)
        source.forget()
        hearer.0.forget()
        let status = hearer.0.listen(to: told.v1.sync, [2], on: scene.world) { $0.answer([0x42], slot: 1) }
        #expect(status == .success)
        scene.world.run(.seconds(3))
        #expect(hearer.0.subeventReports.contains { $0.sync == told.v1.sync && $0.data == [2, 0xDA] })
        let heard = source.responses.filter { $0.response.dataStatus == .complete }
        #expect(heard.count >= 10)
        #expect(heard.allSatisfy { $0.subevent == 2 && $0.response.slot == 1 })
    }

    // Vol 4 Part E 7.8.90, 7.8.92.
    @Test func stoppedTrainsAreNotTransferred() throws {
        let (world, central, peripheral) = LinkLayerWorld.withTwoHosts()
        let defaults = LESetDefaultPeriodicAdvertisingSyncTransferParameters(
            mode: .reports,
            skip: 3,
            timeout: 50,
            toneKinds: 0
        )
        #expect(peripheral.send(defaults) == .success)
        peripheral.advertiseExtended(.connectable, set: 1)
        central.connectExtended(to: peripheral.address)
        world.run(.seconds(1))
        let handle = try #require(central.connections.first).handle
        // Defaults set for future links apply to this one, until the controller is reset.
        let link = try #require(peripheral.controller.links.first)
        #expect(link.transferRules == SyncTransferRules(mode: .reports, skip: 3, timeout: 50))
        #expect(peripheral.send(Reset()) == .success)
        #expect(peripheral.controller.defaults.transferRules == SyncTransferRules())
        central.prepare(set: 3)
        let command = LEPeriodicAdvertisingSetInfoTransfer(handle: handle, serviceData: 0, set: 3)
        #expect(central.send(command) == .commandDisallowed)
        central.send(LESetPeriodicAdvertisingParametersV2.sample(set: 3))
        #expect(central.send(command) == .commandDisallowed)
    }

    @Test func trainsAreNotTransferredToPeersWithoutResponses() throws {
        let world = LinkLayerWorld()
        let (central, peripheral) = (world.host(), world.host(at: 1) { $0.features.remove(.periodicResponsesScanner) })
        peripheral.advertiseExtended(.connectable, set: 1)
        central.connectExtended(to: peripheral.address)
        world.run(.seconds(1))
        let handle = try #require(central.connections.first).handle
        central.send(LEReadRemoteFeatures(handle: handle))
        world.run(.milliseconds(300))
        #expect(central.advertiseResponsively(on: world) == .success)
        world.run(.milliseconds(300))
        let command = LEPeriodicAdvertisingSetInfoTransfer(handle: handle, serviceData: 0, set: 0)
        #expect(central.send(command) == .unsupportedRemoteFeature)
        central.advertisePeriodically(set: 2)
        world.run(.milliseconds(300))
        #expect(central.send(LEPeriodicAdvertisingSetInfoTransfer(handle: handle, serviceData: 0, set: 2)) == .success)
    }
}
