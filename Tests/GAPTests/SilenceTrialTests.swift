import AccessStandIns
import BluetoothTypes
import EventLoops
import HCI
import HCIHost
import LinkLayer
import Security
import Testing

@testable import GAP

/// The cost of trying the other commands with a controller that receives nothing (quirk 5): a working controller in an
/// empty room is such a one, too.
@Suite struct SilenceTrialTests {
    private let world = GAPWorld(.extended)

    private func resets(_ device: GAPDevice) -> Int { device.log.commands.count { $0 == Reset.name } }

    private func known(of device: GAPDevice) -> [Set<ControllerFallback>] {
        device.host.memory.entries.map(\.fallbacks)
    }

    /// A device that can be received as long as the result lives.
    private func sender() -> Peripheral {
        let sender = Peripheral(world.device().access)
        sender.enter(.init(.general, .undirected))
        return sender
    }

    private func listens(_ device: GAPDevice, _ settings: ScanSettings = .attentive) throws -> Observer {
        let observer = Observer(device.access)
        try observer.observe(settings) { _ in }
        return observer
    }

    @Test("a link is not ended for a trial of the other commands; the trial runs once there is no link")
    func aLinkIsNotEndedForATrial() throws {
        let pair = try LinkedPair(.extended)
        let observer = Observer(pair.central.access)
        var heard = 0
        try observer.observe(.attentive) { _ in heard += 1 }
        pair.world.run(.seconds(60))
        #expect(heard == 0, "the room is not empty")
        #expect(resets(pair.central) == 1)
        #expect(pair.central.access.links.count == 1)
        #expect(pair.central.endReasons.isEmpty)
        #expect(pair.peripheral.endReasons.isEmpty)
        pair.centralLink.terminate()
        pair.world.run(ScanWatch.firstPause + .seconds(1))
        #expect(resets(pair.central) == 2)
    }

    @Test("an imminent trial is cancelled for a new link, and not repeated when the link ends")
    func aTrialIsGivenUpForALink() throws {
        let (device, other) = (world.device(), world.device())
        let role = Peripheral(device.access)
        role.enter(.init(.general, .undirected))
        let observer = try listens(device)
        world.run(ScanWatch.firstPause - .milliseconds(100))
        // The controller delays the end of the scan, and so does everything that waits for silence.
        device.gate.holds = { $0.kind == .event && $0.bytes.first == CommandComplete.eventCode.rawValue }
        world.run(.milliseconds(200))
        let central = Central(other.access)
        central.connect(to: device.address) { _ in }
        #expect(world.run(for: .seconds(1)) { !device.links.isEmpty })
        device.gate.release()
        world.run(.seconds(1))
        #expect(resets(device) == 1)
        #expect(device.access.links.count == 1)
        other.links.first?.terminate()
        world.run(.seconds(5))
        #expect(resets(device) == 1)
        #expect(device.access.links.isEmpty)
        world.run(ScanWatch.firstPause)
        #expect(resets(device) == 2)
        withExtendedLifetime((role, observer, central)) {}
    }

    @Test("advertising continues through a trial with the same address and only a short gap")
    func advertisingGoesOnThroughATrial() throws {
        let (device, listener) = (world.device(.resolvablePrivate), world.device())
        let role = Peripheral(device.access)
        var failures: [GAPError] = []
        role.onFailed = { failures.append($0) }
        role.enter(.init(.general, .undirected))
        let observer = try listens(device)
        var seen: [(time: Instant, address: BluetoothAddress)] = []
        let other = Observer(listener.access)
        let (loop, whole) = (world.loop, ScanSettings(isActive: false, interval: 96, window: 96))
        try other.observe(whole) { seen.append((loop.now, $0.address)) }
        world.run(.seconds(29))
        // Over to the other commands, and back.
        #expect(resets(device) == 3)
        #expect(failures.isEmpty)
        #expect(device.log.contains(LESetAdvertisingEnable.self), "the older commands were not tried")
        #expect(Set(seen.map(\.address)).count == 1)
        let gaps = zip(seen, seen.dropFirst()).map { $1.time - $0.time }
        // It advertises every 30 to 60 ms, and scans of its own cost some packets.
        #expect(try #require(gaps.max()) < .milliseconds(300))
        withExtendedLifetime((role, observer)) {}
    }

    @Test("a request that only the newer commands support is not interrupted by a trial", arguments: [false, true])
    func extendedOnlyRequestsPreventATrial(hasTwoSets: Bool) throws {
        let device = world.device()
        var (one, two) = (AdvertisingConfiguration(.nonConnectable), AdvertisingConfiguration(.nonConnectable))
        if !hasTwoSets { one.packets = .extended(.init()) }
        two.data = AdvertisingData([.appearance(1)])
        let (first, second) = (device.access.advertiser.addSet(), device.access.advertiser.addSet())
        first.want(one)
        if hasTwoSets { second.want(two) }
        let observer = try listens(device)
        world.run(.seconds(60))
        #expect(resets(device) == 1)
        withExtendedLifetime((first, second, observer)) {}
    }

    @Test("a scan on the Coded PHY is not interrupted by a trial")
    func aCodedScanIsNotGivenUp() throws {
        let device = world.device()
        var settings = ScanSettings.attentive
        settings.phys = [.le1M, .coded]
        let observer = try listens(device, settings)
        world.run(.seconds(60))
        #expect(resets(device) == 1)
        withExtendedLifetime(observer) {}
    }

    @Test(
        "a pending connection is made whenever the peer appears, trial or not",
        arguments: [5, 9, 10, 11, 15, 20, 25, 75]
    )
    func trialsKeepPendingConnections(after seconds: Int) throws {
        let (device, peer) = (world.device(), world.device())
        let central = Central(device.access)
        var result: Result<AccessLink, GAPError>?
        central.connect(to: peer.address) { result = $0 }
        let observer = try listens(device)
        world.run(.seconds(seconds))
        #expect(result == nil)
        let role = Peripheral(peer.access)
        role.enter(.init(.general, .undirected))
        #expect(world.run(for: .seconds(5)) { result != nil })
        #expect(try result?.get() != nil)
        world.run(.seconds(90))
        #expect(device.endReasons.isEmpty)
        #expect(known(of: device).isEmpty)
        withExtendedLifetime((observer, role)) {}
    }

    @Test(
        "a working controller that first receives during a trial soon returns to the newer commands, without more trials"
    )
    func aGoodControllerIsCleared() throws {
        let device = world.device()
        let observer = try listens(device)
        world.run(.seconds(15))
        #expect(resets(device) == 2)
        let sender = sender()
        world.run(.seconds(1))
        #expect(device.access.controllerInformation?.fallbacks == [.legacyCommands])
        world.run(.seconds(300))
        #expect(device.access.controllerInformation?.fallbacks == [])
        #expect(known(of: device).isEmpty)
        #expect(resets(device) == 3)
        sender.leave()
        world.run(.seconds(300))
        #expect(resets(device) == 3, "the controller has received before, so the room is empty")
        // One coincidence is not held against it.
        device.access.stop()
        device.access.start()
        world.run(.seconds(1))
        let again = try listens(device)
        world.run(.seconds(14))
        sender.enter(.init(.general, .undirected))
        world.run(.seconds(1))
        #expect(device.access.controllerInformation?.fallbacks == [.legacyCommands])
        #expect(known(of: device).isEmpty)
        withExtendedLifetime((observer, again)) {}
    }

    @Test("another trial of a working controller needs new devices in range")
    func itIsAskedWhileThereIsSomebody() throws {
        let device = world.device()
        let observer = try listens(device)
        world.run(.seconds(15))
        let sender = sender()
        world.run(.seconds(2))
        sender.leave()
        world.run(.seconds(60))
        #expect(resets(device) == 2)
        sender.enter(.init(.general, .undirected))
        world.run(.seconds(60))
        #expect(device.access.controllerInformation?.fallbacks == [])
        #expect(known(of: device).isEmpty)
        #expect(resets(device) == 3)
        withExtendedLifetime(observer) {}
    }

    @Test("a controller that twice receives nothing with the newer commands is remembered, and not tried again")
    func aSilentControllerIsRememberedTheSecondTime() throws {
        let sender = sender()
        let device = world.device { $0.quirks = [.extendedScanSilent] }
        let observer = Observer(device.access)
        var heard = 0
        try observer.observe(.attentive) { _ in heard += 1 }
        world.run(.seconds(12))
        #expect(heard > 0)
        #expect(known(of: device).isEmpty)
        world.run(.seconds(30))
        #expect(known(of: device) == [[.legacyCommands]])
        let count = resets(device)
        #expect(count == 4)
        world.run(.seconds(600))
        #expect(resets(device) == count)
        withExtendedLifetime((sender, observer)) {}
    }

    @Test("in a room that stays empty trials become ever rarer, to one an hour at least")
    func trialsBecomeRarer() throws {
        let device = world.device()
        let observer = try listens(device, ScanSettings(isActive: false, interval: 16_384, window: 16))
        var at: [Int] = []
        for hour in 0..<8 {
            world.run(.seconds(3_600))
            if hour == 0 { #expect((5...9).contains(resets(device))) }
            at.append(resets(device))
        }
        let each = zip(at, at.dropFirst()).map { $1 - $0 }
        #expect(each.allSatisfy { (1...2).contains($0) }, "\(at)")
        #expect(known(of: device).isEmpty)
        withExtendedLifetime(observer) {}
    }
}
