import BluetoothTypes
import EventLoops
import HCI
import HCIHost
import LinkLayer
import Testing

@testable import GAP

/// Periodic advertising with responses (Core Vol 3 Part C 9.5), between complete stacks.
@Suite struct PeriodicResponseTests {
    /// Four subevents of 20 ms, each with four slots.
    private static let timing = LESubeventTiming(
        subevents: 4,
        interval: 16,
        responseSlotDelay: 4,
        responseSlotSpacing: 20
    )

    private static let announcement: AdvertisingConfiguration = {
        var advertisement = AdvertisingConfiguration(
            .nonConnectable,
            data: AdvertisingData([.localName(.init("Harald"))])
        )
        advertisement.packets = .extended(.init())
        return advertisement
    }()

    /// The data of a subevent.
    private static func data(_ subevent: UInt8) -> PacketBuffer { [3, 0xFF, 0x4C, subevent] }

    /// A device with a train of 100 ms that sets the data of each subevent and listens to all slots.
    private func broadcaster(_ device: GAPDevice, slots: UInt8 = 4) throws -> PeriodicBroadcaster {
        let broadcaster = PeriodicBroadcaster(device.access)
        broadcaster.onDataWanted = { [weak broadcaster] subevents in
            broadcaster?.send(subevents.map { .init(subevent: $0, firstSlot: 0, slots: slots, data: Self.data($0)) })
        }
        var result: Result<Void, GAPError>?
        broadcaster.start(Self.announcement, subevents: Self.timing, slots: slots, interval: 80...80) { result = $0 }
        device.world.run { result != nil }
        try #require(try result?.get() != nil)
        return broadcaster
    }

    private struct Heard: Hashable {
        var subevent: UInt8
        var data: PacketBuffer
    }

    /// Returns the subevents that a device receives within a time, once it has selected them.
    private func hear(
        _ device: GAPDevice,
        _ train: PeriodicObserver.Train,
        _ subevents: [UInt8],
        for time: Duration = .seconds(2)
    ) throws -> [Heard] {
        var heard: [Heard] = []
        device.access.trains.onSubevent = { of, place, data, isWhole in
            if of == train, isWhole { heard.append(Heard(subevent: place.subevent, data: data)) }
        }
        var chosen: Result<Void, GAPError>?
        device.access.trains.choose(subevents, of: train) { chosen = $0 }
        device.world.run(time)
        try #require(try chosen?.get() != nil)
        return heard
    }

    /// Lets a device respond to the subevents it receives, and expects the responses at the advertiser.
    private func respond(
        _ device: GAPDevice,
        _ train: PeriodicObserver.Train,
        to broadcaster: PeriodicBroadcaster,
        subevent: UInt8,
        slot: UInt8
    ) throws {
        var answers: [(UInt8, UInt8, PacketBuffer)] = []
        broadcaster.onResponse = { answers.append(($0, $1, $2)) }
        device.access.trains.onSubevent = { [trains = device.access.trains] train, place, _, _ in
            trains.respond(to: place, of: train, slot: slot, [0xA0, place.subevent])
        }
        device.access.trains.choose([subevent], of: train)
        device.world.run(.seconds(2))
        #expect(answers.count >= 15)
        #expect(answers.allSatisfy { $0 == (subevent, slot, [0xA0, subevent]) })
        broadcaster.onResponse = nil
    }

    @Test("GAP/PADV/PASM/BV-02: an advertiser in synchronizability mode announces its train with responses")
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
        let train = try listener.synchronize(to: advertiser)
        #expect(train.timing == Self.timing)
        #expect(train.hasSubevents)
        #expect(train.interval == 80)
        // The train stops being synchronizable with the mode, but goes on.
        broadcaster.hide()
        world.run(.milliseconds(500))
        #expect(try listener.hear(from: advertiser.address).isEmpty)
        #expect(try hear(listener, train, [1]).count >= 18)
    }

    @Test("GAP/PADV/PAM/BV-02: an advertiser in periodic advertising mode sends in subevents, and receives responses")
    func anAdvertiserSendsInSubevents() throws {
        let world = GAPWorld()
        let (advertiser, listener) = (world.device(), world.device())
        let broadcaster = try broadcaster(advertiser)
        let train = try listener.synchronize(to: advertiser)
        let heard = try hear(listener, train, [0, 1, 2, 3])
        #expect(heard.count >= 72)
        #expect(heard.allSatisfy { $0.data == Self.data($0.subevent) })
        #expect(Set(heard.map(\.subevent)) == [0, 1, 2, 3])
        try respond(listener, train, to: broadcaster, subevent: 2, slot: 3)
        // The train ends with the mode.
        var lost: PeriodicObserver.Train?
        listener.access.trains.onLost = { lost = $0 }
        broadcaster.stop()
        world.run(.milliseconds(200))
        #expect(try hear(listener, train, [0, 1], for: .seconds(7)).isEmpty && lost == train)
    }

    @Test(
        "GAP/PADV/PASE/BV-07: an observer synchronizes to a train with responses, and receives nothing until it selects subevents"
    )
    func anObserverSynchronizesWithoutListening() throws {
        let world = GAPWorld()
        let (advertiser, listener) = (world.device(), world.device())
        let broadcaster = try broadcaster(advertiser)
        var rules = PeriodicObserver.Rules()
        rules.reports = false
        let train = try listener.synchronize(to: advertiser, rules)
        #expect(train.advertiser == advertiser.address)
        #expect(train.timing == Self.timing)
        #expect(try hear(listener, train, [1]).isEmpty && listener.access.trains.followed.count == 1)
        listener.access.trains.report(train, true)
        #expect(try hear(listener, train, [1]).count >= 18)
        _ = broadcaster
    }

    @Test(
        "GAP/PADV/PASE/BV-08: an observer synchronizes to a train with responses, receives its subevents, and responds"
    )
    func anObserverSynchronizesAndResponds() throws {
        let world = GAPWorld()
        let (advertiser, listener, other) = (world.device(), world.device(), world.device())
        let broadcaster = try broadcaster(advertiser)
        let train = try listener.synchronize(to: advertiser)
        var early = 0
        listener.access.trains.onSubevent = { _, _, _, _ in early += 1 }
        world.run(.seconds(1))
        #expect(early == 0)
        let heard = try hear(listener, train, [3])
        #expect(heard.count >= 18)
        #expect(Set(heard) == [Heard(subevent: 3, data: Self.data(3))])
        try respond(listener, train, to: broadcaster, subevent: 3, slot: 0)
        listener.access.trains.onSubevent = nil
        // Another listener, in the next slot.
        let second = try other.synchronize(to: advertiser)
        try respond(other, second, to: broadcaster, subevent: 1, slot: 1)
        listener.access.trains.leave(train)
        world.run(.milliseconds(100))
        #expect(listener.access.trains.followed.isEmpty)
    }

    // More than one HCI event holds.
    @Test func aLongResponseIsHeardWhole() throws {
        let world = GAPWorld()
        let (advertiser, listener) = (world.device(), world.device())
        let broadcaster = try broadcaster(advertiser)
        let train = try listener.synchronize(to: advertiser)
        let long = PacketBuffer((0..<247).map { UInt8($0) })
        var (answers, results): ([PacketBuffer], [Result<Void, GAPError>]) = ([], [])
        broadcaster.onResponse = { answers.append($2) }
        listener.access.trains.onSubevent = { [trains = listener.access.trains] train, place, _, _ in
            trains.respond(to: place, of: train, slot: 1, long) { results.append($0) }
        }
        listener.access.trains.choose([1], of: train)
        world.run(.seconds(1))
        #expect(answers.count >= 8)
        #expect(Set(answers) == [long])
        #expect(results.allSatisfy { (try? $0.get()) != nil })
        // One command holds no more.
        let place = PeriodicObserver.Place(event: 0, subevent: 0)
        let tooLong = PacketBuffer([UInt8](repeating: 1, count: 248))
        var refused: [Result<Void, GAPError>] = []
        listener.access.trains.respond(to: place, of: train, slot: 0, tooLong) { refused.append($0) }
        let data = LESubeventData(
            subevent: 0,
            firstSlot: 0,
            slots: 0,
            data: PacketBuffer([UInt8](repeating: 1, count: 250))
        )
        broadcaster.send([data]) { refused.append($0) }
        #expect(refused.count == 2)
        for result in refused {
            guard case .failure(.impossible) = result else {
                Issue.record("\(result)")
                continue
            }
        }
        // Data too long for one command go into several.
        var sent: Result<Void, GAPError>?
        let others = (0..<4).map {
            LESubeventData(subevent: $0, firstSlot: 0, slots: 0, data: PacketBuffer([UInt8](repeating: 2, count: 100)))
        }
        broadcaster.send(others) { sent = $0 }
        world.run { sent != nil }
        #expect(try sent?.get() != nil)
    }

    @Test func whoComesTooLateIsTold() throws {
        let world = GAPWorld()
        let (advertiser, listener) = (world.device(), world.device())
        let broadcaster = try broadcaster(advertiser)
        let train = try listener.synchronize(to: advertiser)
        var (place, result): (PeriodicObserver.Place?, Result<Void, GAPError>?)
        listener.access.trains.onSubevent = { _, heard, _, _ in place = heard }
        listener.access.trains.choose([0], of: train)
        world.run { place != nil }
        let first = try #require(place)
        world.run(.milliseconds(50))
        listener.access.trains.respond(to: first, of: train, slot: 0, [1]) { result = $0 }
        world.run { result != nil }
        #expect(throws: GAPError.refused(LESetPeriodicAdvertisingResponseData.opcode, .tooLate)) { try result?.get() }
        _ = broadcaster
    }

    @Test func whatDoesNotFitIsRefused() throws {
        let device = GAPWorld().device()
        var timing = Self.timing
        timing.subevents = 6
        var result: Result<Void, GAPError>?
        let broadcaster = PeriodicBroadcaster(device.access)
        broadcaster.start(Self.announcement, subevents: timing, slots: 4, interval: 80...80) { result = $0 }
        device.world.run { result != nil }
        #expect(
            throws: GAPError.refused(LESetPeriodicAdvertisingParametersV2.opcode, .invalidParameters)
        ) { try result?.get() }
        // It may begin again.
        result = nil
        broadcaster.start(Self.announcement, subevents: Self.timing, slots: 4, interval: 80...80) { result = $0 }
        device.world.run { result != nil }
        #expect(try result?.get() != nil)
        // The train as a whole has no data of its own.
        result = nil
        broadcaster.change(AdvertisingData([])) { result = $0 }
        #expect(throws: GAPError.notReady) { try result?.get() }
    }

    // MARK: Over a link

    /// Has the listener receive the train over the link.
    private func told(
        _ linked: TransferPair,
        reports: Bool = true,
        _ tell: (@escaping (Result<Void, GAPError>) -> Void) -> Void
    ) throws -> PeriodicObserver.Train {
        var rules = PeriodicObserver.Rules()
        rules.reports = reports
        var told: Result<PeriodicObserver.Train, GAPError>?
        linked.listener.access.trains.onTold = { result, link, number in
            #expect(link === linked.listenerLink)
            #expect(number == 0xABCD)
            told = result
        }
        linked.listener.access.trains.listen(to: linked.listenerLink, rules)
        linked.pair.world.run(.milliseconds(100))
        var sent: Result<Void, GAPError>?
        tell { sent = $0 }
        linked.pair.world.run { told != nil }
        #expect(try sent?.get() != nil)
        let train = try #require(try told?.get())
        #expect(train.timing == Self.timing)
        #expect(train.interval == 80)
        return train
    }

    private func establish(listenerIsCentral: Bool, reports: Bool) throws {
        let linked = try TransferPair(listenerIsCentral: listenerIsCentral)
        let broadcaster = try broadcaster(linked.teller)
        let train = try told(linked, reports: reports) {
            broadcaster.tell(linked.tellerLink, serviceData: 0xABCD, completion: $0)
        }
        #expect(train.advertiser == linked.teller.address)
        let heard = try hear(linked.listener, train, [2])
        #expect(reports ? heard.count >= 15 : heard.isEmpty)
        if reports {
            #expect(Set(heard) == [Heard(subevent: 2, data: Self.data(2))])
            try respond(linked.listener, train, to: broadcaster, subevent: 0, slot: 2)
        }
        #expect(linked.listener.access.trains.followed.count == 1)
        #expect(linked.listenerLink.isOpen)
        #expect(linked.tellerLink.isOpen)
    }

    @Test("GAP/PADV/PASE/BV-09: a peripheral receives a train with responses by sync transfer, without its reports")
    func aPeripheralIsToldWithoutListening() throws { try establish(listenerIsCentral: false, reports: false) }

    @Test(
        "GAP/PADV/PASE/BV-10: a peripheral receives a train with responses by sync transfer, and responds to its subevents"
    )
    func aPeripheralIsToldAndResponds() throws { try establish(listenerIsCentral: false, reports: true) }

    @Test("GAP/PADV/PASE/BV-11: a central receives a train with responses by sync transfer, without its reports")
    func aCentralIsToldWithoutListening() throws { try establish(listenerIsCentral: true, reports: false) }

    @Test(
        "GAP/PADV/PASE/BV-12: a central receives a train with responses by sync transfer, and responds to its subevents"
    )
    func aCentralIsToldAndResponds() throws { try establish(listenerIsCentral: true, reports: true) }

    /// Transfers the train of a third device to the peer.
    private func transfer(tellerIsCentral: Bool) throws {
        let linked = try TransferPair(listenerIsCentral: !tellerIsCentral)
        let third = linked.pair.world.device()
        let broadcaster = try broadcaster(third)
        let known = try linked.teller.synchronize(to: third)
        let train = try told(linked) {
            linked.teller.access.trains.tell(linked.tellerLink, of: known, serviceData: 0xABCD, completion: $0)
        }
        #expect(train.advertiser == third.address)
        #expect(try hear(linked.listener, train, [1]).count >= 15)
        try respond(linked.listener, train, to: broadcaster, subevent: 3, slot: 1)
    }

    @Test("GAP/PADV/PAST/BV-03: a peripheral transfers a train with responses that it follows to its central")
    func aPeripheralTellsOfATrain() throws { try transfer(tellerIsCentral: false) }

    @Test("GAP/PADV/PAST/BV-04: a central transfers a train with responses that it follows to its peripheral")
    func aCentralTellsOfATrain() throws { try transfer(tellerIsCentral: true) }

    // MARK: Connections from a train

    /// Connects an advertiser to a device that listens to a subevent.
    private func connect() throws -> (
        advertiser: GAPDevice, listener: GAPDevice, broadcaster: PeriodicBroadcaster, central: AccessLink
    ) {
        let world = GAPWorld()
        let (advertiser, listener) = (world.device(), world.device())
        let broadcaster = try broadcaster(advertiser)
        let train = try listener.synchronize(to: advertiser)
        _ = try hear(listener, train, [2])
        var result: Result<AccessLink, GAPError>?
        broadcaster.connect(to: listener.address, in: 2) { result = $0 }
        world.run { result != nil }
        let link = try #require(try result?.get())
        world.run(.milliseconds(500))
        return (advertiser, listener, broadcaster, link)
    }

    @Test("GAP/PADV/PAC/BV-01: an advertiser connects from its train to a device that listens to a subevent")
    func anAdvertiserConnects() throws {
        let (advertiser, listener, broadcaster, link) = try connect()
        #expect(link.connection.role == .central)
        #expect(link.peer == listener.address)
        #expect(link.isOpen)
        #expect(advertiser.links.count == 1)
        #expect(listener.links.count == 1)
        // One connection at a time, and none to an absent device.
        var results: [Result<AccessLink, GAPError>] = []
        let nobody = BluetoothAddress(5, kind: .publicDevice)
        broadcaster.connect(to: nobody, in: 1) { results.append($0) }
        broadcaster.connect(to: nobody, in: 1) { results.append($0) }
        advertiser.world.run { results.count == 2 }
        #expect(
            results.map { $0.map { _ in 0 } } == [
                .failure(.busy), .failure(.rejected(.connectionFailedToBeEstablished)),
            ]
        )
        // The existing link stays open, and a stopped train makes no connections.
        #expect(link.isOpen)
        broadcaster.stop()
        results = []
        broadcaster.connect(to: nobody, in: 1) { results.append($0) }
        #expect(results.map { $0.map { _ in 0 } } == [.failure(.notReady)])
    }

    @Test(
        "GAP/PADV/PAC/BV-02: a device that listens to a subevent accepts a connection from the train, and still follows it"
    )
    func aListenerIsConnectedTo() throws {
        let (advertiser, listener, broadcaster, _) = try connect()
        let link = try #require(listener.links.first)
        let train = try #require(listener.access.trains.followed.values.first)
        #expect(link.connection.role == .peripheral)
        #expect(link.peer == advertiser.address)
        #expect(link.isOpen)
        #expect(link.connection.origin == .followedTrain(sync: train.handle))
        #expect(try hear(listener, train, [1]).count >= 15)
        try respond(listener, train, to: broadcaster, subevent: 1, slot: 2)
        #expect(link.isOpen)
    }

    @Test("a connection from a train names the PHYs that the controller supports, whatever the settings prefer")
    func thePHYsOfAConnectionFromATrain() throws {
        let device = GAPWorld().device { $0.features.remove(.phyCoded) }
        device.access.connector.settings.phys = [.le1M, .coded]
        let broadcaster = try broadcaster(device)
        broadcaster.connect(to: BluetoothAddress(5, kind: .publicDevice), in: 3) { _ in }
        device.world.run(.milliseconds(100))
        let command = try #require(device.log.all(LEExtendedCreateConnectionV2.self).first?.v1)
        #expect(command.le1M != nil)
        #expect(command.le2M == command.le1M)
        #expect(command.coded == nil)
    }

    @Test func aTrainThatEndsConnectsToNobody() throws {
        let world = GAPWorld()
        let advertiser = world.device()
        let broadcaster = try broadcaster(advertiser)
        var results: [Result<AccessLink, GAPError>] = []
        broadcaster.connect(to: BluetoothAddress(5, kind: .publicDevice), in: 3) { results.append($0) }
        broadcaster.stop()
        world.run(.seconds(1))
        #expect(results.map { $0.map { _ in 0 } } == [.failure(.cancelled)])
    }
}
