import BluetoothTypes
import EventLoops
import HCI
import Testing

@testable import LinkLayer

/// Connection events that pass by arithmetic leave everything as events that are carried out frame by frame.
@Suite struct QuietEventsTests {
    @Test(
        "a random world has the same packets, air times and links whether quiet events pass at once or frame by frame",
        arguments: 1...60
    )
    func randomWorldsAreTheSameBothWays(seed: UInt64) throws {
        let (quick, slow) = (try QuietWorld(seed: seed), try QuietWorld(seed: seed, carriesEveryFrame: true))
        for step in 1...25 {
            let (a, b) = (quick.perform(), slow.perform())
            try #require(a.links == b.links, "step \(step)")
            try #require(a == b, "step \(step)")
        }
        #expect(quick.packets == slow.packets)
        #expect(quick.tasks <= slow.tasks)
    }

    @Test func anIdleLinkNeedsAFewTasksASecond() throws {
        let pair = try Pair(timeout: 400)
        var tasks = 0
        pair.world.loop.run(until: pair.world.loop.now + .seconds(300)) {
            tasks += 1
            return false
        }
        #expect(tasks < 2_000)
        #expect(try #require(pair.centralLink).anchors.event > 10_000)
    }
}

/// A world in which random things happen, with long pauses.
private final class QuietWorld {
    /// What must not depend on how events pass.
    struct Reading: Equatable {
        var links: [String] = []
        var times: [[RadioUse: RadioTime]] = []
        var air: [RadioNode.AirTime] = []
        var breakdowns: [RadioNode.Breakdown] = []
        /// The number of frames on the air so far.
        var frames: Int
        var now: Instant
    }

    private let world: LinkLayerWorld
    private let random: RandomSource
    private let central: TestHost
    private let peripherals: [TestHost]
    private(set) var tasks = 0
    private var frames = 0

    init(seed: UInt64, carriesEveryFrame: Bool = false) throws {
        random = RandomSource(seed: seed)
        world = LinkLayerWorld(seed: seed)
        world.radio.carriesEveryFrame = carriesEveryFrame
        let drifts = (0..<3).map { [random] _ in random.below(3) == 0 ? 0 : Double(random.below(99)) - 49.37 }
        let features: LEFeatures = random.below(2) == 0 ? [.channelSelectionAlgorithm2] : []
        func configure(_ configuration: inout VirtualControllerConfiguration, _ drift: Double) {
            (configuration.clockAccuracy, configuration.clockDrift) = (.ppm50, drift)
            if features.isEmpty { configuration.features.remove(.channelSelectionAlgorithm2) }
        }
        central = world.host { configure(&$0, drifts[0]) }
        peripherals = (1...1 + Int(random.below(2))).map { [world] number in
            world.host(at: Double(number)) { configure(&$0, drifts[number]) }
        }
        if seed % 2 == 0 {
            // Advertisements that only a sniffer hears go on the air.
            let sniffer = world.radio.addSniffer()
            sniffer.onFrame = { [unowned self] _ in frames += 1 }
            sniffer.onQuietFrames = { [unowned self] in frames += $0 }
        }
        for peripheral in peripherals { connect(peripheral) }
    }

    var packets: [[String]] {
        world.hosts.map { host in host.packets.map { "\($0.at) \($0.packet.bytes.bytes)" } }
    }

    private func connect(_ peripheral: TestHost) {
        peripheral.controller.node.position.x = 1
        peripheral.advertise()
        central.connect(
            to: peripheral.address,
            interval: 6 + UInt16(random.below(random.below(2) == 0 ? 40 : 400)),
            latency: random.below(4) == 0 ? 2 : 0,
            timeout: 320 + UInt16(random.below(200))
        )
        run(.milliseconds(600))
    }

    private func run(_ duration: Duration) {
        world.loop.run(until: world.loop.now + duration) {
            tasks += 1
            return false
        }
    }

    /// Does something at random, lets time pass, and reads what came of it.
    func perform() -> Reading {
        act(on: peripherals[Int(random.below(UInt64(peripherals.count)))])
        run(.nanoseconds(Int64(random.below(random.below(3) == 0 ? 40_000_000 : 9_000_000_000))))
        return reading
    }

    private func act(on peripheral: TestHost) {
        let own = peripheral.connectionHandles.last
        let others = central.events(LEEnhancedConnectionComplete.self)
        let handle = others.last { $0.peerAddress == peripheral.address }?.handle
        guard let own, let handle, peripheral.controller.link(own) != nil else { return connect(peripheral) }
        switch random.below(14) {
        case 0...2: central.send(random.bytes(1 + Int(random.below(27))), on: handle)
        case 3...5: peripheral.send(random.bytes(1 + Int(random.below(27))), on: own)
        case 6: central.update(handle, interval: 8 + UInt16(random.below(60))...70, latency: UInt16(random.below(2)))
        case 7: central.send(LESetHostChannelClassification(channelMap: PacketBuffer(random.bytes(4) + [0x1F])))
        case 8:
            peripheral.longTermKey = .sample
            central.encrypt(handle)
        case 9: setPHY(handle)
        case 10 where random.below(2) == 0: peripheral.advertise(.nonConnectable, interval: 200)
        case 10: stopAdvertising(peripheral)
        case 11 where random.below(2) == 0: central.scan()
        case 11: stopScanning()
        case 12: peripheral.controller.node.position.x = random.below(3) == 0 ? 5_000 : Double(random.below(12))
        default: disturb(peripheral, handle)
        }
    }

    private func setPHY(_ handle: ConnectionHandle) {
        central.send(
            LESetPHY {
                $0.handle = handle
                ($0.txPHYs, $0.rxPHYs) = random.below(2) == 0 ? (.le2M, .le1M) : (.le1M, .le2M)
            }
        )
    }

    private func stopAdvertising(_ peripheral: TestHost) {
        peripheral.send(LESetAdvertisingEnable(isEnabled: false))
    }

    private func stopScanning() {
        central.send(LESetScanEnable(isEnabled: false, filterDuplicates: .disabled))
    }

    private func disturb(_ peripheral: TestHost, _ handle: ConnectionHandle) {
        switch random.below(4) {
        case 0: world.radio.configuration.lossRate = 0.05
        case 1: world.radio.configuration.lossRate = 0
        case 2:
            let quality = random.below(2) == 0 ? AirQuality(corruptionRate: 0.1) : nil
            world.radio.setQuality(quality, from: central.controller.node, to: peripheral.controller.node)
        default:
            central.send(Disconnect(handle: handle, reason: .remoteUserTerminated))
        }
    }

    private var reading: Reading {
        var reading = Reading(frames: frames, now: world.loop.now)
        for host in [central] + peripherals {
            reading.times.append(host.controller.radioTime)
            reading.air.append(host.controller.node.airTime)
            reading.breakdowns.append(host.controller.node.breakdown)
            for handle in host.connectionHandles {
                guard let link = host.controller.link(handle) else { continue }
                reading.links.append(
                    """
                    \(link.anchors) \(link.hopping) \(link.acknowledgement) \(link.control.counter) \(link.missed) \
                    \(link.rssi) \(link.lastReception) \(link.queue) \(link.subrating) \(link.control.timing) \
                    \(link.priority)
                    """
                )
            }
        }
        return reading
    }
}
