import BluetoothTypes
import EventLoops
import HCI
import Testing

@testable import LinkLayer

/// Advertising events that nobody hears, and scan windows in which nothing is on the air, leave everything as those that
/// are carried out one by one.
@Suite struct UnheardTests {
    @Test(
        "a random world has the same packets and air times whether unheard events and windows pass at once or one by one",
        arguments: 1...60
    )
    func randomWorldsAreTheSameBothWays(seed: UInt64) throws {
        let (quick, slow) = (SparseWorld(seed: seed), SparseWorld(seed: seed, carriesEveryFrame: true))
        for step in 1...30 {
            let (a, b) = (quick.perform(), slow.perform())
            try #require(a == b, "step \(step)")
        }
        #expect(quick.packets == slow.packets)
        #expect(quick.tasks < slow.tasks)
    }

    @Test("a device alone needs one task for each advertising event, and none for its scan windows")
    func aDeviceAloneNeedsFewTasks() {
        let world = LinkLayerWorld(seed: 1)
        let host = world.host()
        host.advertise(interval: 160)
        #expect(world.tasks(in: .seconds(600)) < 20_000)
        #expect(host.controller.radioTime[.advertising(set: nil)]?.events ?? 0 > 5_500)
        host.send(LESetAdvertisingEnable(isEnabled: false))
        host.scan()
        #expect(world.tasks(in: .seconds(600)) < 10)
        #expect(host.controller.radioTime[.scanning]?.air.listening ?? 0 > 599_000_000)
        host.send(LESetScanEnable(isEnabled: false, filterDuplicates: .disabled))
        host.send(LECreateConnection.scanning(for: .none))
        #expect(world.tasks(in: .seconds(600)) < 10)
        #expect(host.controller.radioTime[.initiating]?.air.listening ?? 0 > 599_000_000)
    }
}

extension LinkLayerWorld {
    /// Lets time pass, and returns the number of steps of the loop.
    fileprivate func tasks(in time: Duration) -> Int {
        var tasks = 0
        loop.run(until: loop.now + time) {
            tasks += 1
            return false
        }
        return tasks
    }
}

/// A world whose devices advertise, scan and look for each other now and then, and are often alone.
private final class SparseWorld {
    /// What must not depend on how events pass.
    struct Reading: Equatable {
        var times: [[RadioUse: RadioTime]]
        var air: [RadioNode.AirTime]
        var breakdowns: [RadioNode.Breakdown]
        var now: Instant
    }

    private let world: LinkLayerWorld
    private let random: RandomSource
    private let hosts: [TestHost]
    private(set) var tasks = 0

    init(seed: UInt64, carriesEveryFrame: Bool = false) {
        random = RandomSource(seed: seed)
        world = LinkLayerWorld(seed: seed)
        world.radio.carriesEveryFrame = carriesEveryFrame
        hosts = (0...1 + Int(random.below(2))).map { [world] in world.host(at: Double($0)) }
        // Its events are often near those of advertising.
        if seed % 2 == 0 { link() }
    }

    private func link() {
        hosts[1].advertise()
        let interval = 6 + UInt16(random.below(20))
        hosts[0].send(LECreateConnection.scanning(for: hosts[1].address, interval: interval, timeout: 300))
        tasks += world.tasks(in: .seconds(1))
    }

    var packets: [[String]] {
        world.hosts.map { host in host.packets.map { "\($0.at) \($0.packet.bytes.bytes)" } }
    }

    /// Does something at random, lets time pass, and reads what came of it.
    func perform() -> Reading {
        act(on: hosts[Int(random.below(UInt64(hosts.count)))])
        tasks += world.tasks(in: .nanoseconds(Int64(random.below(random.below(3) == 0 ? 90_000_000 : 5_000_000_000))))
        let controllers = hosts.map(\.controller)
        return Reading(
            times: controllers.map(\.radioTime),
            air: controllers.map(\.node.airTime),
            breakdowns: controllers.map(\.node.breakdown),
            now: world.loop.now
        )
    }

    private func act(on host: TestHost) {
        switch random.below(12) {
        case 0...2: advertise(host)
        case 3, 4: host.send(LESetAdvertisingEnable(isEnabled: false))
        case 5, 6: scan(host)
        case 7, 8: host.send(LESetScanEnable(isEnabled: false, filterDuplicates: .disabled))
        case 9:
            let peer = hosts[Int(random.below(UInt64(hosts.count)))]
            host.send(LECreateConnection.scanning(for: peer === host ? .none : peer.address, timeout: 300))
        case 10: host.send(LECreateConnectionCancel())
        default:
            guard let handle = host.connectionHandles.last else { return }
            host.send(Disconnect(handle: handle, reason: .remoteUserTerminated))
        }
    }

    private func advertise(_ host: TestHost) {
        let kinds: [LEAdvertisingKind] = [.connectableScannable, .scannable, .nonConnectable, .directedLowDutyCycle]
        let channels: [LEAdvertisingChannels] = [.all, .all, .channel38, [.channel37, .channel39]]
        let kind = kinds[Int(random.below(4))]
        host.send(
            LESetAdvertisingParameters.sending(
                kind,
                interval: UInt16(0x20 + random.below(0x200)),
                peer: kind == .directedLowDutyCycle ? hosts[0].address : .none,
                channels: channels[Int(random.below(4))]
            )
        )
        host.send(LESetAdvertisingData(data: PacketBuffer([UInt8](repeating: 0, count: Int(random.below(32))))))
        host.send(LESetAdvertisingEnable(isEnabled: true))
    }

    private func scan(_ host: TestHost) {
        let interval = UInt16(4 + random.below(200))
        host.send(
            LESetScanParameters {
                $0.kind = random.below(2) == 0 ? .active : .passive
                $0.scanInterval = interval
                $0.scanWindow = random.below(2) == 0 ? interval : UInt16(4 + random.below(UInt64(interval) - 3))
                $0.ownAddressKind = .publicDevice
                $0.filterPolicy = .unfiltered
            }
        )
        host.send(LESetScanEnable(isEnabled: true, filterDuplicates: .disabled))
    }
}
