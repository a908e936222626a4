import BluetoothTypes
import EventLoops
import HCI
import Testing

@testable import LinkLayer

/// One radio with more work than time: every activity gets a share.
@Suite struct FairnessTests {
    /// A central, its peripherals, and a stream in each direction on each link.
    private final class Star {
        let world = LinkLayerWorld()
        let central: TestHost
        private(set) var peripherals: [TestHost] = []
        private var streams: [Stream] = []

        init() {
            central = world.host { ($0.aclPacketCount, $0.maximumLinks) = (200, 24) }
        }

        func add(interval: UInt16, timeout: UInt16 = 600, phy: LEPHYs = .le1M) throws {
            let peripheral = world.host(at: 1)
            peripheral.advertise()
            central.connect(to: peripheral.address, interval: interval, timeout: timeout)
            // The central's link exists once it has sent its first PDU, the peripheral's once it has received it.
            let isThere = world.run(upTo: .seconds(4)) {
                peripheral.controller.links.count == 1 && central.controller.links.count == peripherals.count + 1
            }
            try #require(isThere, "\(peripherals.count)")
            peripherals.append(peripheral)
            let handle = try #require(central.controller.links.last).handle
            central.setPHY(handle, phy, .s2)
            central.send(LESetDataLength(handle: handle, txOctets: 251, txTime: 2_120))
        }

        /// Keeps every link busy in both directions, once the procedures begun at connection have completed.
        func saturate() {
            world.run(.seconds(2))
            let share = max(1, Int(central.controller.configuration.aclPacketCount) / peripherals.count)
            let packet = [UInt8](repeating: 7, count: 27)
            var waiting: [ConnectionHandle: Int] = [:]
            central.onEvent = { [unowned central] event in
                guard event.code == NumberOfCompletedPackets.eventCode,
                    let completed = try? NumberOfCompletedPackets.reading(event.parameters)
                else { return }
                for entry in completed.entries {
                    for _ in 0..<entry.count where waiting[entry.handle] != nil {
                        central.send(packet, on: entry.handle)
                    }
                }
            }
            for link in central.controller.links where link.isCentral {
                waiting[link.handle] = share
                for _ in 0..<share { central.send(packet, on: link.handle) }
            }
            for peripheral in peripherals {
                guard let handle = peripheral.controller.links.first?.handle else { continue }
                let stream = Stream(peripheral, handle, [packet], repeats: true)
                streams.append(stream)
                stream.start()
            }
        }

        func forget() { for host in [central] + peripherals { host.forget() } }
    }

    // Twenty links with different intervals and PHYs, all busy in both directions, beside a scanner and an advertiser.
    // Each transfers data in both directions in at least a quarter of its intervals.
    @Test func twentyLinksAndTheRest() throws {
        let star = Star()
        let phys: [LEPHYs] = [.le1M, .le2M, .coded]
        for index in 0..<20 { try star.add(interval: UInt16(80 + 7 * index), phy: phys[index % 3]) }
        let (other, beacon) = (star.world.host(at: 2), star.world.host(at: 3))
        other.scan()
        beacon.advertise(.nonConnectable, interval: 0xA0)
        star.central.advertise(.nonConnectable, interval: 0xA0)
        star.central.scan()
        star.saturate()
        star.world.run(.seconds(5))
        star.forget()
        other.forget()
        star.world.run(.seconds(20))
        #expect(star.central.events(DisconnectionComplete.self).isEmpty)
        for (index, link) in star.central.controller.links.enumerated() {
            let intervals = 20_000_000 / Int(link.control.timing.intervalMicroseconds)
            let peripheral = star.peripherals[index]
            #expect(peripheral.events(DisconnectionComplete.self).isEmpty)
            #expect(peripheral.data.count >= intervals / 4, "\(index): \(peripheral.data.count) of \(intervals)")
            let up = star.central.data.count { $0.handle == link.handle }
            #expect(up >= intervals / 4, "\(index): \(up) of \(intervals)")
        }
        // The beacon sends 10 events per second, and the central attempts about as many.
        let scanned = star.central.events(LEAdvertisingReport.self).count
        #expect(scanned >= 6, "\(scanned)")
        let heard = other.events(LEAdvertisingReport.self).flatMap(\.reports)
        #expect(heard.count { $0.address == star.central.address } >= 20)
    }

    // Overload: eight links of 7.5 ms, each of which would fill the radio's time alone.
    @Test func moreThanThereIsTimeFor() throws {
        let star = Star()
        for _ in 0..<8 { try star.add(interval: 6, timeout: 100) }
        star.saturate()
        star.world.run(.seconds(15))
        #expect(star.central.events(DisconnectionComplete.self).isEmpty)
        let counts = star.peripherals.map(\.data.count)
        // The links ran for 2,000 intervals.
        #expect(counts.allSatisfy { $0 >= 250 }, "\(counts)")
    }

    // A peripheral of several centrals cannot choose the anchor points.
    @Test(arguments: [6] as [UInt16])
    func aPeripheralOfBusyCentrals(interval: UInt16) throws {
        let world = LinkLayerWorld()
        let peripheral = world.host { $0.aclPacketCount = 60 }
        var streams: [Stream] = []
        var centrals: [TestHost] = []
        for _ in 0..<6 {
            let central = world.host(at: 1)
            peripheral.advertise()
            central.connect(to: peripheral.address, interval: interval, timeout: 100)
            world.run(.seconds(2))
            let handle = try #require(central.controller.links.first).handle
            centrals.append(central)
            streams.append(Stream(central, handle, [[UInt8](repeating: 1, count: 27)], repeats: true))
        }
        for stream in streams { stream.start() }
        world.run(.seconds(15))
        #expect(peripheral.events(DisconnectionComplete.self).isEmpty)
        let intervals = 15_000_000 / (Int(interval) * 1_250)
        for link in peripheral.controller.links {
            let count = peripheral.data.count { $0.handle == link.handle }
            #expect(count >= intervals / 10, "\(count) of \(intervals)")
        }
        #expect(peripheral.controller.links.count == 6)
    }

    // Central of four and peripheral of four at the same time, with unrelated intervals.
    @Test func bothRolesBusyAtOnce() throws {
        let star = Star()
        for index in 0..<4 { try star.add(interval: UInt16(17 + 6 * index), timeout: 200) }
        var streams: [Stream] = []
        var centrals: [(host: TestHost, interval: Int)] = []
        for index in 0..<4 {
            let (central, interval) = (star.world.host(at: 2), 19 + 7 * index)
            star.central.advertise()
            central.connect(to: star.central.address, interval: UInt16(interval), timeout: 200)
            try #require(star.world.run(upTo: .seconds(4)) { star.central.controller.links.count == 5 + index })
            let handle = try #require(central.controller.links.first).handle
            centrals.append((central, interval))
            streams.append(Stream(central, handle, [[UInt8](repeating: 1, count: 27)], repeats: true))
        }
        star.saturate()
        for stream in streams { stream.start() }
        star.forget()
        star.world.run(.seconds(20))
        #expect(star.central.events(DisconnectionComplete.self).isEmpty)
        #expect(star.central.controller.links.count == 8)
        // Each transfers data in at least a quarter of its intervals.
        for (index, link) in star.central.controller.links.enumerated() {
            let intervals = 20_000_000 / Int(link.control.timing.intervalMicroseconds)
            let count = star.central.data.count { $0.handle == link.handle }
            #expect(count >= intervals / 4, "\(index), central: \(link.isCentral), \(count) of \(intervals)")
        }
    }

    // A scanner beside a link that always has data to send: the scanner gets an eighth of the time, and the link keeps
    // three quarters of its throughput alone.
    @Test(arguments: [6, 24, 320] as [UInt16])
    func aScannerBesideABusyLink(interval: UInt16) throws {
        let pair = try Pair(interval: interval, timeout: 3_200)
        let beacon = pair.world.host(at: 2)
        beacon.advertise(.nonConnectable, interval: 0x20)
        let streams = [
            Stream(pair.central, pair.centralHandle, [[UInt8](repeating: 1, count: 27)], repeats: true),
            Stream(pair.peripheral, pair.peripheralHandle, [[UInt8](repeating: 1, count: 27)], repeats: true),
        ]
        for stream in streams { stream.start() }
        pair.world.run(.seconds(2))
        pair.peripheral.forget()
        pair.world.run(.seconds(4))
        let alone = pair.peripheral.data.count
        pair.central.scan()
        pair.world.run(.seconds(3))
        for host in [pair.central, pair.peripheral] { host.forget() }
        pair.world.run(.seconds(4))
        let heard = pair.central.events(LEAdvertisingReport.self).count
        // 40 events per second.
        #expect(heard >= 160 / 16, "\(heard)")
        #expect(pair.peripheral.data.count >= alone * 3 / 4, "\(pair.peripheral.data.count) of \(alone)")
        #expect(pair.central.events(DisconnectionComplete.self).isEmpty)
    }

    // Connecting one more device beside busy links takes time, but succeeds.
    @Test func anInitiatorBesideBusyLinks() throws {
        let star = Star()
        for _ in 0..<6 { try star.add(interval: 24) }
        star.saturate()
        let late = star.world.host(at: 2)
        late.advertise()
        star.central.connect(to: late.address, timeout: 300)
        star.world.run(.seconds(10))
        #expect(late.controller.links.count == 1)
        #expect(star.central.events(DisconnectionComplete.self).isEmpty)
        star.world.run(.seconds(10))
        #expect(star.central.controller.links.count == 7)
    }

    // A flood beside an honest link (AB-L10): the honest link keeps its timing to the microsecond.
    @Test("AB-L10: a flood of scan requests does not shift a link's timing")
    func aScanRequestFloodDoesNotMoveALink() throws {
        let world = LinkLayerWorld()
        let pair = try Pair(world, interval: 24, timeout: 300)
        let attacker = Attacker(world)
        pair.peripheral.advertise()
        attacker.flood(pair.peripheral)
        var starts: [Int64] = []
        let sender = pair.central.controller.node.id
        world.sniff { if $0.sender == sender { starts.append($0.start.microseconds) } }
        let stream = Stream(pair.central, pair.centralHandle, [[1, 2, 3]], repeats: false)
        stream.start()
        world.run(.seconds(30))
        #expect(attacker.requests > 100)
        #expect(Set(starts.map { $0 % 30_000 }).count <= 2)
        #expect(pair.peripheral.data.count == 1)
        for host in [pair.central, pair.peripheral] { #expect(host.events(DisconnectionComplete.self).isEmpty) }
        // At least nine of ten events have been answered.
        #expect(pair.central.controller.node.airTime.framesReceived > 900)
    }
}
