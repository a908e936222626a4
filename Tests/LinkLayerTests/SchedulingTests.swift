import BluetoothTypes
import ControllerStandIns
import EventLoops
import HCI
import Testing

@testable import LinkLayer

/// One radio shared by many activities.
@Suite struct SchedulingTests {
    /// A central connected to a number of peripherals.
    private func star(_ count: Int, interval: UInt16) throws -> (LinkLayerWorld, TestHost, [TestHost]) {
        let world = LinkLayerWorld()
        let central = world.host { $0.aclPacketCount = 32 }
        var peripherals: [TestHost] = []
        for _ in 0..<count {
            let peripheral = world.host(at: 1)
            peripherals.append(peripheral)
            peripheral.advertise()
            central.connect(to: peripheral.address, interval: interval, timeout: 600)
            world.run(.seconds(3))
            try #require(peripheral.controller.links.count == 1)
        }
        return (world, central, peripherals)
    }

    @Test(arguments: [(3, 24), (8, 40), (20, 80)] as [(Int, UInt16)])
    func aCentralWithManyLinks(count: Int, interval: UInt16) throws {
        let (world, central, peripherals) = try star(count, interval: interval)
        world.run(.seconds(30))
        #expect(central.events(DisconnectionComplete.self).isEmpty)
        for link in central.controller.links { central.send([7], on: link.handle) }
        world.run(.seconds(2))
        #expect(peripherals.allSatisfy { $0.data.map(\.payload) == [[7]] })
    }

    // The anchor points of a new link lie where existing links leave space.
    @Test func anchorsAreSpreadOut() throws {
        let (_, central, _) = try star(5, interval: 40)
        let places = central.controller.links.map { $0.anchor.microseconds % 50_000 }.sorted()
        let gaps = zip(places, places.dropFirst()).map { $1 - $0 }
        #expect(gaps.allSatisfy { $0 >= AnchorPlacement.distance })
    }

    @Test func aPeripheralOfSeveralCentrals() throws {
        let world = LinkLayerWorld()
        let peripheral = world.host()
        var centrals: [TestHost] = []
        for _ in 0..<4 {
            let central = world.host(at: 1)
            centrals.append(central)
            peripheral.advertise()
            central.connect(to: peripheral.address, interval: 24, timeout: 300)
            world.run(.seconds(1))
        }
        // The centrals choose the anchor points, which may coincide: no link starves.
        world.run(.seconds(60))
        #expect(peripheral.controller.links.count == 4)
        #expect(centrals.allSatisfy { $0.events(DisconnectionComplete.self).isEmpty })
    }

    @Test func bothRolesAtOnce() throws {
        let world = LinkLayerWorld()
        let (a, b, c) = (world.host(), world.host(at: 1), world.host(at: 2))
        b.advertise()
        a.connect(to: b.address)
        world.run(.seconds(1))
        c.advertise()
        b.connect(to: c.address)
        world.run(.seconds(1))
        #expect(b.controller.links.map(\.isCentral) == [false, true])
        for link in b.controller.links { b.send([1], on: link.handle) }
        world.run(.seconds(1))
        #expect(a.data.count == 1)
        #expect(c.data.count == 1)
    }

    @Test func advertisingAndScanningWhileConnected() throws {
        let pair = try Pair(interval: 24)
        let other = pair.world.host(at: 2)
        pair.peripheral.advertise()
        other.scan()
        pair.central.scan(.active)
        pair.world.run(.seconds(10))
        // 40 events per second are sent; the link takes little of the time.
        let heard = other.events(LEAdvertisingReport.self).count
        #expect(heard > 350, "\(heard)")
        let scanned = pair.central.events(LEAdvertisingReport.self).flatMap(\.reports)
        #expect(scanned.count { $0.kind == .connectableScannable } > 300)
        #expect(scanned.count { $0.kind == .scanResponse } > 200)
        #expect(pair.central.events(DisconnectionComplete.self).isEmpty)
    }

    // A busy link leaves gaps for advertising, and advertising does not break it.
    @Test func advertisingBesideABusyLink() throws {
        let pair = try Pair(interval: 24, timeout: 300)
        for (host, handle) in [(pair.central, pair.centralHandle), (pair.peripheral, pair.peripheralHandle)] {
            host.send(LESetDataLength(handle: handle, txOctets: 251, txTime: 2_120))
        }
        pair.world.run(.seconds(1))
        let stream = Stream(pair.central, pair.centralHandle, [[UInt8](repeating: 1, count: 251)], repeats: true)
        stream.start()
        let other = pair.world.host(at: 2)
        pair.peripheral.advertise(interval: 0xA0)
        other.scan()
        pair.world.run(.seconds(10))
        let heard = other.events(LEAdvertisingReport.self).count
        #expect(heard > 50, "\(heard)")
        #expect(pair.peripheral.data.count > 3_000)
        #expect(pair.central.events(DisconnectionComplete.self).isEmpty)
    }

    @Test func initiatingWhileConnectedAndScanning() throws {
        let pair = try Pair(interval: 24)
        let (third, beacon) = (pair.world.host(at: 2), pair.world.host(at: 3))
        beacon.advertise(.nonConnectable)
        pair.central.scan()
        pair.central.connect(to: third.address)
        pair.world.run(.seconds(1))
        third.advertise()
        pair.world.run(.seconds(2))
        #expect(pair.central.controller.links.count == 2)
        #expect(pair.central.events(LEAdvertisingReport.self).count > 60)
    }

    @Test func initiatingByTheAcceptList() throws {
        let world = LinkLayerWorld()
        let (central, wanted, other) = (world.host(), world.host(at: 1), world.host(at: 2))
        wanted.advertise()
        other.advertise()
        central.send(LEAddDeviceToFilterAcceptList(address: wanted.address))
        central.send(LECreateConnection.scanning(for: .none, policy: .acceptList))
        world.run(.seconds(1))
        let addresses = central.events(LEEnhancedConnectionComplete.self).map(\.peerAddress)
        #expect(addresses == [wanted.address])
    }

    @Test func randomAddressesAreUsed() throws {
        let (world, central, peripheral) = LinkLayerWorld.withTwoHosts()
        let mine = BluetoothAddress(0xC111_2222_3333, kind: .randomDevice)
        let yours = BluetoothAddress(0xC444_5555_6666, kind: .randomDevice)
        central.send(LESetRandomAddress(address: mine))
        peripheral.send(LESetRandomAddress(address: yours))
        peripheral.send(LESetAdvertisingParameters.sending(.connectableScannable, own: .randomDevice))
        peripheral.send(LESetAdvertisingEnable(isEnabled: true))
        central.send(LECreateConnection.scanning(for: yours, own: .randomDevice))
        world.run(.seconds(1))
        #expect(central.events(LEEnhancedConnectionComplete.self).map(\.peerAddress) == [yours])
        #expect(peripheral.events(LEEnhancedConnectionComplete.self).map(\.peerAddress) == [mine])
    }

    @Test func aControllerThatNobodyHoldsIsGone() {
        let loop = VirtualEventLoop()
        let random = RandomSource(seed: 1)
        let radio = Radio(loop: loop, random: random)
        var frames = 0
        radio.onTransmission = { _ in frames += 1 }
        let line = TestTransport(loop: loop)
        var controller: VirtualController? = VirtualController(
            transport: line,
            node: radio.add(),
            loop: loop,
            random: random,
            configuration: .init(publicAddress: .init(1, kind: .publicDevice))
        )
        weak let trace = controller
        line.onReceive?(HCIPacket(LESetAdvertisingEnable(isEnabled: true)))
        line.onReceive?(HCIPacket(LESetScanEnable(isEnabled: true, filterDuplicates: .disabled)))
        loop.run(for: .seconds(10))
        let before = frames
        controller = nil
        #expect(trace == nil)
        loop.run(for: .seconds(10))
        #expect(before > 0)
        #expect(frames == before)
        line.onReceive?(HCIPacket(Reset()))
        controller = nil
    }

    /// Everything that a busy small world reports to hosts and to a sniffer, as one text.
    private func trace(seed: UInt64) -> String {
        let world = LinkLayerWorld(seed: seed) {
            $0.lossRate = 0.05
            $0.corruptionRate = 0.05
        }
        var text = ""
        world.sniff { text += "\($0.start.nanoseconds) \($0.frame.channel) \(hexadecimal($0.frame.pdu))\n" }
        let hosts = (0..<4).map { world.host(at: Double($0)) }
        hosts[0].advertise()
        hosts[1].advertise(.scannable)
        hosts[2].scan(.active)
        hosts[3].connect(to: hosts[0].address)
        world.run(.seconds(2))
        for link in hosts[3].controller.links {
            hosts[3].send([UInt8](repeating: 3, count: 200), on: link.handle)
            hosts[3].setPHY(link.handle, .le2M, .s8)
        }
        world.run(.seconds(3))
        for host in hosts {
            for entry in host.packets { text += "\(entry.at.nanoseconds) \(entry.packet.bytes)\n" }
        }
        return text
    }

    @Test func oneSeedGivesOneTrace() {
        let first = trace(seed: 11)
        #expect(first.count > 10_000)
        #expect(first == trace(seed: 11))
        #expect(first != trace(seed: 12))
    }
}
