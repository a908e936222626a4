import BluetoothTypes
import EventLoops
import HCI
import HCIHost
import LinkLayer
import Testing

@testable import GAP

/// Periodic advertising modes and procedures (Core Vol 3 Part C 9.5), between complete stacks.
@Suite struct PeriodicTests {
    private static let data = AdvertisingData([.localName(.init("Harald's train"))])

    private static let announcement: AdvertisingConfiguration = {
        var advertisement = AdvertisingConfiguration(
            .nonConnectable,
            data: AdvertisingData([.localName(.init("Harald"))])
        )
        advertisement.packets = .extended(.init())
        return advertisement
    }()

    /// A device with a train of 100 ms.
    private func broadcaster(
        _ device: GAPDevice,
        data: AdvertisingData = Self.data
    ) throws -> PeriodicBroadcaster {
        let broadcaster = PeriodicBroadcaster(device.access)
        var result: Result<Void, GAPError>?
        broadcaster.start(Self.announcement, data: data, interval: 80...80) { result = $0 }
        device.world.run { result != nil }
        try #require(try result?.get() != nil)
        return broadcaster
    }

    /// Returns the data that a device receives from trains within a time.
    private func hear(_ device: GAPDevice, for time: Duration = .seconds(2)) -> [PacketBuffer] {
        var heard: [PacketBuffer] = []
        device.access.trains.onData = { _, data, isWhole in if isWhole { heard.append(data) } }
        device.world.run(time)
        return heard
    }

    @Test("GAP/PADV/PASM/BV-01: an advertiser in synchronizability mode announces its train")
    func anAdvertiserTellsWhereItsTrainIs() throws {
        let world = GAPWorld()
        let (advertiser, listener) = (world.device(), world.device())
        var told = Set<UInt16>()
        listener.host.onEvent(LEExtendedAdvertisingReport.self) { event in
            for report in event.reports where report.address == advertiser.address {
                told.insert(report.periodicInterval)
            }
        }
        let broadcaster = try broadcaster(advertiser)
        _ = try listener.hear()
        #expect(told == [80])
        // The train stops being synchronizable with the mode, but goes on.
        let train = try listener.synchronize(to: advertiser)
        broadcaster.hide()
        world.run(.milliseconds(500))
        #expect(try listener.hear(from: advertiser.address).isEmpty)
        #expect(hear(listener).count >= 18)
        #expect(train.interval == 80)
        _ = broadcaster
    }

    @Test("GAP/PADV/PAM/BV-01: an advertiser in periodic advertising mode sends its data at fixed times")
    func anAdvertiserSendsItsDataAtFixedTimes() throws {
        let world = GAPWorld()
        let (advertiser, listener) = (world.device(), world.device())
        let broadcaster = try broadcaster(advertiser)
        _ = try listener.synchronize(to: advertiser)
        var times: [Instant] = []
        listener.access.trains.onData = { _, data, _ in
            #expect(data == Self.data.encoded)
            times.append(world.loop.now)
        }
        world.run(.seconds(5))
        #expect(times.count >= 48)
        #expect(zip(times, times.dropFirst()).allSatisfy { ($1 - $0).microseconds % 100_000 == 0 })
        let other = AdvertisingData([.localName(.init("Other"))])
        var result: Result<Void, GAPError>?
        broadcaster.change(other) { result = $0 }
        listener.access.trains.onData = nil
        world.run(.milliseconds(300))
        #expect(try result?.get() != nil)
        #expect(Set(hear(listener)) == [other.encoded])
        // The train ends with the mode.
        var lost: PeriodicObserver.Train?
        listener.access.trains.onLost = { lost = $0 }
        broadcaster.stop()
        world.run(.milliseconds(200))
        #expect(hear(listener, for: .seconds(7)).isEmpty)
        #expect(lost != nil)
        #expect(listener.access.trains.followed.isEmpty)
    }

    @Test("GAP/PADV/PASE/BV-01: an observer synchronizes to a train by scanning, without its reports")
    func anObserverSynchronizesWithoutListening() throws {
        let world = GAPWorld()
        let (advertiser, listener) = (world.device(), world.device())
        let broadcaster = try broadcaster(advertiser)
        var rules = PeriodicObserver.Rules()
        rules.reports = false
        let train = try listener.synchronize(to: advertiser, rules)
        #expect(train.advertiser == advertiser.address)
        #expect(train.sid == 0)
        #expect(train.interval == 80)
        #expect(hear(listener, for: .seconds(8)).isEmpty)
        #expect(listener.access.trains.followed.count == 1)
        listener.access.trains.report(train, true)
        #expect(hear(listener).count >= 18)
        _ = broadcaster
    }

    @Test("GAP/PADV/PASE/BV-02: an observer synchronizes to a train by scanning, and receives its data")
    func anObserverSynchronizesAndListens() throws {
        let world = GAPWorld()
        let (advertiser, listener) = (world.device(), world.device())
        let broadcaster = try broadcaster(advertiser)
        let train = try listener.synchronize(to: advertiser)
        #expect(train.advertiser == advertiser.address)
        let heard = hear(listener)
        #expect(heard.count >= 18)
        #expect(Set(heard) == [Self.data.encoded])
        listener.access.trains.leave(train)
        world.run(.milliseconds(100))
        #expect(hear(listener).isEmpty)
        #expect(listener.access.trains.followed.isEmpty)
        _ = broadcaster
    }

    @Test func longDataAreHeardWhole() throws {
        let world = GAPWorld()
        let (advertiser, listener) = (world.device(), world.device())
        let octets = (0..<3).map { PacketBuffer([UInt8](repeating: UInt8($0), count: 240)) }
        let data = AdvertisingData(octets.map { .manufacturerData(.apple, $0) })
        let broadcaster = try broadcaster(advertiser, data: data)
        _ = try listener.synchronize(to: advertiser)
        #expect(Set(hear(listener)) == [data.encoded])
        _ = broadcaster
    }

    @Test func oneOfAListIsFound() throws {
        let world = GAPWorld()
        let (advertiser, other, listener) = (world.device(), world.device(), world.device())
        let broadcasters = try [broadcaster(advertiser), broadcaster(other)]
        var (listed, result): (Bool?, Result<PeriodicObserver.Train, GAPError>?)
        listener.access.trains.list([(other.address, 0)]) { listed = (try? $0.get()) != nil }
        world.run(.milliseconds(100))
        listener.access.trains.synchronize(to: .listed) { result = $0 }
        world.run { result != nil }
        #expect(listed == true)
        #expect(try result?.get().advertiser == other.address)
        _ = broadcasters
    }

    @Test func aSearchIsCancelled() throws {
        let world = GAPWorld()
        let listener = world.device()
        var results: [Result<PeriodicObserver.Train, GAPError>] = []
        let nobody = BluetoothAddress(5, kind: .publicDevice)
        listener.access.trains.synchronize(to: .one(nobody, sid: 0)) { results.append($0) }
        listener.access.trains.synchronize(to: .one(nobody, sid: 0)) { results.append($0) }
        #expect(results == [.failure(.busy)])
        world.run(.seconds(2))
        listener.access.trains.cancel()
        world.run(.milliseconds(100))
        #expect(results == [.failure(.busy), .failure(.cancelled)])
        // The radio is available again.
        try Observer(listener.access).observe(.attentive, onSighting: { _ in })
    }

    // MARK: Over a link

    private struct Told {
        var train: Result<PeriodicObserver.Train, GAPError>?
        weak var link: AccessLink?
        var serviceData: UInt16 = 0
    }

    /// Transfers the train of the other end to the listener, which follows it or not.
    private func establish(listenerIsCentral: Bool, reports: Bool) throws {
        let linked = try TransferPair(listenerIsCentral: listenerIsCentral)
        let world = linked.pair.world
        let broadcaster = try broadcaster(linked.teller)
        var rules = PeriodicObserver.Rules()
        rules.reports = reports
        var told = Told()
        linked.listener.access.trains.onTold = { told = Told(train: $0, link: $1, serviceData: $2) }
        linked.listener.access.trains.listen(to: linked.listenerLink, rules)
        world.run(.milliseconds(100))
        var sent: Result<Void, GAPError>?
        broadcaster.tell(linked.tellerLink, serviceData: 0xABCD) { sent = $0 }
        world.run { told.train != nil }
        #expect(try sent?.get() != nil)
        let train = try #require(try told.train?.get())
        #expect(train.advertiser == linked.teller.address)
        #expect(train.interval == 80)
        #expect(told.serviceData == 0xABCD)
        #expect(told.link === linked.listenerLink)
        let heard = hear(linked.listener)
        #expect(reports ? heard.count >= 15 && Set(heard) == [Self.data.encoded] : heard.isEmpty)
        #expect(linked.listener.access.trains.followed.count == 1)
        #expect(linked.listenerLink.isOpen)
        #expect(linked.tellerLink.isOpen)
    }

    @Test("GAP/PADV/PASE/BV-03: a peripheral receives a train by sync transfer, without its reports")
    func aPeripheralIsToldWithoutListening() throws { try establish(listenerIsCentral: false, reports: false) }

    @Test("GAP/PADV/PASE/BV-04: a peripheral receives a train by sync transfer, and its data")
    func aPeripheralIsToldAndListens() throws { try establish(listenerIsCentral: false, reports: true) }

    @Test("GAP/PADV/PASE/BV-05: a central receives a train by sync transfer, without its reports")
    func aCentralIsToldWithoutListening() throws { try establish(listenerIsCentral: true, reports: false) }

    @Test("GAP/PADV/PASE/BV-06: a central receives a train by sync transfer, and its data")
    func aCentralIsToldAndListens() throws { try establish(listenerIsCentral: true, reports: true) }

    /// Transfers the train of a third device to the peer.
    private func transfer(tellerIsCentral: Bool) throws {
        let linked = try TransferPair(listenerIsCentral: !tellerIsCentral)
        let world = linked.pair.world
        let third = world.device()
        let broadcaster = try broadcaster(third)
        let train = try linked.teller.synchronize(to: third)
        var told = Told()
        linked.listener.access.trains.onTold = { told = Told(train: $0, link: $1, serviceData: $2) }
        linked.listener.access.trains.listen(to: linked.listenerLink, .init())
        world.run(.milliseconds(100))
        var sent: Result<Void, GAPError>?
        linked.teller.access.trains.tell(linked.tellerLink, of: train, serviceData: 7) { sent = $0 }
        world.run { told.train != nil }
        #expect(try sent?.get() != nil)
        #expect(try told.train?.get().advertiser == third.address && told.serviceData == 7)
        #expect(hear(linked.listener).count >= 15)
        _ = broadcaster
    }

    @Test("GAP/PADV/PAST/BV-01: a peripheral transfers a train that it follows to its central")
    func aPeripheralTellsOfATrain() throws { try transfer(tellerIsCentral: false) }

    @Test("GAP/PADV/PAST/BV-02: a central transfers a train that it follows to its peripheral")
    func aCentralTellsOfATrain() throws { try transfer(tellerIsCentral: true) }

    @Test func aPeerThatCannotBeToldIsNot() throws {
        let pair = try LinkedPair(.extended, central: { $0.features.remove(.periodicSyncTransferRecipient) })
        let broadcaster = try broadcaster(pair.peripheral)
        var result: Result<Void, GAPError>?
        broadcaster.tell(pair.peripheralLink) { result = $0 }
        pair.world.run { result != nil }
        #expect(throws: GAPError.refused(LEPeriodicAdvertisingSetInfoTransfer.opcode, .unsupportedRemoteFeature)) {
            try result?.get()
        }
    }

    @Test func whatCannotTellOfATrainIsRefused() throws {
        let device = GAPWorld().device()
        var anonymous = Self.announcement
        var options = AdvertisingConfiguration.ExtendedPackets()
        options.isAnonymous = true
        anonymous.packets = .extended(options)
        for advertisement in [
            AdvertisingConfiguration(.nonConnectable), AdvertisingConfiguration(.connectable), anonymous,
        ] {
            var result: Result<Void, GAPError>?
            PeriodicBroadcaster(device.access).start(advertisement, data: Self.data, interval: 80...80) { result = $0 }
            guard case .failure(.impossible)? = result else {
                Issue.record("\(advertisement): \(String(describing: result))")
                continue
            }
        }
    }
}
